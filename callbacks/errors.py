"""The reasons why a callback cannot be processed again."""

from core.errors import Refused


class BodyGone(Refused):
    """The callback's body is no longer kept, so it cannot be processed."""


class StillWaiting(Refused):
    """The callback waits for its first processing."""
