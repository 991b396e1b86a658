"""Why a callback cannot be processed again."""

from core.errors import Refused


class StillWaiting(Refused):
    """The callback waits for its first processing."""
