"""The rights to open pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.urls import resolve
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRefresh

from core.rights import Right

if TYPE_CHECKING:
    from staff.models import User

P = ParamSpec("P")


def may_open(person: User, url: str) -> bool:
    """Whether the view of this address of ours lets the person in; a view may still refuse a single row."""
    view = resolve(url.partition("?")[0].partition("#")[0]).func
    return person.has_perms(getattr(view, "rights", ()))


class NotByPin(PermissionDenied):
    """A PIN does not open this page: it needs a sign-in with the password, whatever rights the person has."""


class StaffRequest(HttpRequest):
    """A request of somebody who is signed in; views behind `staff_only` get one."""

    user: User


def staff_only(
    *permissions: Right,
) -> Callable[
    [Callable[Concatenate[StaffRequest, P], HttpResponseBase]], Callable[Concatenate[HttpRequest, P], HttpResponseBase]
]:
    """Let in people who are signed in and have every one of `permissions`.

    Others are sent to sign in, or get the 403 page. A live part of a page whose session has ended reloads the whole
    page instead of showing the sign-in form in its place. After a form, the sign-in says that nothing was done.
    """

    def decorate(
        view: Callable[Concatenate[StaffRequest, P], HttpResponseBase],
    ) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                if request.method == "POST":
                    words = _(
                        "This press did nothing: you were signed out. Sign in, look whether an earlier one has "
                        "counted, then press again."
                    )
                    messages.error(request, words, extra_tags="signed_out")
                if request.headers.get("HX-Request"):
                    return HttpResponseClientRefresh()
                return redirect_to_login(request.get_full_path())
            if not request.user.has_perms(permissions):
                raise PermissionDenied
            response = view(request, *args, **kwargs)  # type: ignore[arg-type]
            # A shop's computer is shared: nothing stays behind for "back" after signing out, and a live part is never
            # shown in the place of its page.
            add_never_cache_headers(response)
            return response

        guarded.rights = permissions  # type: ignore[attr-defined] # the tests compare pages with the table
        return guarded

    return decorate
