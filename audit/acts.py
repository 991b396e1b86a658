"""The steps that a second factor or a password confirms; each room names its own beside the step, with its words."""

from __future__ import annotations

from django.utils.functional import Promise

#: The words of each step by its name, of all rooms whose views or services are loaded.
WORDS: dict[str, Promise] = {}


def act(name: str, words: Promise) -> str:
    """The step's name, which the audit shows as `words`."""
    WORDS[name] = words
    return name
