"""The steps that a second factor or a password confirms; each room names its own beside the step, with its words."""

from typing import NamedTuple

from django.utils.functional import Promise

from core.rights import Right


class Step(NamedTuple):
    """A step: its words, and the `fresh` right that it uses; None for a step about the person's own account."""

    words: Promise
    right: Right | None


#: The steps by name, of all rooms whose views or services are loaded.
STEPS: dict[str, Step] = {}


def act(name: str, words: Promise, right: Right | None = None) -> str:
    """The step's name, which the audit shows as `words`."""
    STEPS[name] = Step(words, right)
    return name
