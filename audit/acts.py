"""The steps that a second factor or a password confirms; each room names its own beside the step, with its words."""

from __future__ import annotations

from typing import NamedTuple

from django.utils.functional import Promise

from core.rights import Right


class Step(NamedTuple):
    """A step: its words, and the right that it uses, which is marked `fresh`; None if it is about oneself."""

    words: Promise
    right: Right | None


#: Each step by its name, of all rooms whose views or services are loaded.
STEPS: dict[str, Step] = {}


def act(name: str, words: Promise, right: Right | None = None) -> str:
    """The step's name, which the audit shows as `words`."""
    STEPS[name] = Step(words, right)
    return name
