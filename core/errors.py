"""The parent of every refusal: nothing was done, and the text tells the asker why."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from django.contrib import messages
from django.http import HttpRequest


class Refused(Exception):
    """The parent of every refusal that a person reads; each room names its own. A page shows it with its `code`."""

    reason = ""

    @property
    def code(self) -> str:
        """The name of its text: the class's, with the reason where one class has several texts: "A:reason"."""
        name = type(self).__name__
        return f"{name}:{self.reason}" if self.reason else name

    def words_for(self, person: Any) -> str:
        """Its words for this person: the same for everybody, unless it names facts that not everybody may see."""
        return str(self)


class ForReason(Refused):
    """A refusal with several texts: `texts` has them by their `reason`."""

    texts: ClassVar[Mapping[str, Any]]

    def __init__(self, reason: str) -> None:
        super().__init__(str(self.texts[reason]))
        self.reason = reason


class OrderRefused(Refused):
    """Nothing was placed and nothing was sent."""


@contextmanager
def refusal_shown(request: HttpRequest) -> Iterator[None]:
    """When a step inside is refused, leave out the steps after it and show the refusal on the next page."""
    try:
        yield
    except Refused as refusal:
        messages.error(request, refusal.words_for(request.user), extra_tags=refusal.code)
