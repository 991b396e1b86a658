"""Knows the branch to which the reader of a page is bound. Only this module narrows rows to it.

The reader is known here for the time of a request, as `core.numbers` knows who sees full numbers. Outside a request (a
command, the worker) everything is seen, and code that writes for a person names the person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase

from branches.services import has_several
from core.middleware import Middleware

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from staff.models import User

Rows = TypeVar("Rows", bound=QuerySet[Any, Any])

_own: ContextVar[Callable[[], int | None]] = ContextVar("own_branch", default=lambda: None)


def own_branch() -> int | None:
    """The key of the only branch that the present reader sees; None for a reader who sees all."""
    return _own.get()()


def names_branches() -> bool:
    """Whether pages name branches to this reader: there are several, and more than one is seen."""
    return has_several() and own_branch() is None


def narrowed(rows: Rows, path: str = "branch", *, with_shop: bool = False) -> Rows:
    """The rows that the present reader sees. `path`: from a row to its branch; `with_shop`: also rows of no branch."""
    branch = own_branch()
    return rows if branch is None else rows.filter(within(branch, path, with_shop=with_shop))


def within(branch: int, path: str, *, with_shop: bool = False) -> Q:
    """The condition of `narrowed`, for a branch that the caller knows."""
    own = Q(**{path: branch})
    return own | Q(**{path: None}) if with_shop else own


@contextmanager
def seen_in_branch_of(person: Callable[[], User | AnonymousUser]) -> Iterator[None]:
    """A context in which this person is the reader; `person` is called for the first rows."""
    token = _own.set(cache(lambda: getattr(person(), "bound_to", None)))
    try:
        yield
    finally:
        _own.reset(token)


@contextmanager
def seen_in(branch: int | None) -> Iterator[None]:
    """A context in which the reader sees only this branch, or the branch of a bound reader. None changes nothing."""
    token = _own.set(lambda: branch) if branch is not None and own_branch() is None else None
    try:
        yield
    finally:
        if token:
            _own.reset(token)


class OwnBranchMiddleware(Middleware):
    """Narrows an answer to the branch of a person who is bound to it."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with seen_in_branch_of(lambda: request.user):
            return self.get_response(request)
