"""Why a callback cannot be processed again."""

from core.errors import Refused


class BodyGone(Refused):
    """What the callback said is kept no more, so that nothing can be done about it."""


class StillWaiting(Refused):
    """The callback waits for its first processing."""
