"""The reasons why a decision about a difference cannot be made."""

from core.errors import Refused


class DecisionRefused(Refused):
    """Nothing was changed; the text says why."""
