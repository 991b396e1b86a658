"""The list of what a new real shop still needs: each step follows from the stored data, and links to its page.

Only the closing of the list is stored, and is final. The sandbox's demo has no such list.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import Case, When
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect

from callbacks.middleware import PATH
from callbacks.models import Callback, CallbackRefusal
from catalogue.destinations import PHONE
from catalogue.models import Availability, CatalogueSync, PriceRule, Product, ProductType, SyncFault
from core.access import StaffRequest, staff_only
from core.addresses import is_public, site_of
from core.live import Live
from core.money import rupiah
from core.rights import Right
from core.times import time_of_day
from core.together import read_together
from drawers.models import Drawer
from gateway.models import Exchange, UpstreamAccount
from gateway.services import denied_balance, first_request_at
from purchases.models import Order
from purchases.states import Status
from shop.services import close_first_steps, shop_of, shop_question
from staff.models import BREAK_GLASS, User
from upstream.error_codes import MEANINGS, ErrorCode

# Connecting a UDP socket to this reserved address makes the kernel name our own address; nothing is sent.
_NOBODY = ("192.0.2.1", 9)


@dataclass(frozen=True)
class Step:
    """One step: whether it is done, what was seen, and what to do about a fault."""

    name: str
    title: str | Promise
    is_done: bool
    seen: str = ""
    advice: str = ""

    @property
    def is_bad(self) -> bool:
        """Whether it was tried, and something has to be corrected."""
        return bool(self.advice) and not self.is_done


@dataclass(frozen=True)
class FirstSteps:
    """The steps in their order, and the cheapest product for a phone (else for anything), for the first sale."""

    steps: list[Step]
    cheapest: tuple[str, str] | None

    @property
    def missing(self) -> list[Step]:
        return [step for step in self.steps if not step.is_done]

    @classmethod
    def read(cls, person: User) -> FirstSteps | None:
        """The steps as they are now, in one statement; None for a demo, or once the list is closed."""
        if settings.SANDBOX:
            return None
        for_sale = Product.objects.filter(is_listed=True, availability=Availability.ACTIVE, type=ProductType.PREPAID)
        others = User.objects.filter(is_active=True).exclude(pk=person.pk).exclude(username=BREAK_GLASS)
        account, reading, callbacks, refusals, products, sync, rules, drawers, people, sold, shops = read_together(
            UpstreamAccount.objects.filter(only=True),
            Exchange.objects.readings().order_by("-pk").values_list("balance")[:1],
            Callback.objects.order_by("pk").values_list("event")[:1],
            CallbackRefusal.objects.order_by("-pk")[:1],
            for_sale.order_by(Case(When(kind=PHONE, then=0), default=1), "price", "pk").values_list("code", "name")[:1],
            CatalogueSync.objects.exclude(result=CatalogueSync.Result.RUNNING).order_by("-started_at")[:1],
            PriceRule.objects.filter(ended_at=None).values_list("pk")[:1],
            Drawer.objects.filter(is_active=True).values_list("pk")[:1],
            others.order_by(Case(When(password__startswith=UNUSABLE_PASSWORD_PREFIX, then=1), default=0), "pk")[:1],
            Order.objects.filter(status=Status.SUCCESS).values_list("pk")[:1],
            shop_question(),
        )
        shop = shop_of(shops)
        if shop.set_up_at:
            return None
        provider = _provider(account[0] if account else UpstreamAccount(), reading[0][0] if reading else None)
        steps = [
            provider,
            _callback(refusals[0] if refusals else None, has_come=bool(callbacks)),
            _catalogue(sync[0] if sync and provider.is_done else None, has_products=bool(products)),
            Step("prices", gettext_lazy("Selling prices"), bool(rules)),
            Step("shop", gettext_lazy("Name, address and paper of the receipts"), shop.saved_at is not None),
            Step("drawers", gettext_lazy("A drawer for the cash"), bool(drawers)),
            _people(people[0] if people else None),
            Step("sale", gettext_lazy("A first sale"), bool(sold)),
        ]
        return cls(steps, products[0] if products else None)


def _provider(account: UpstreamAccount, balance: int | None) -> Step:
    title = gettext_lazy("The provider accepts this shop")
    code = account.refused_code
    if code:
        seen = str(MEANINGS[code].words) if code in MEANINGS else code
        return Step("provider", title, False, seen, _advice(code))
    if account.unreachable_since:
        seen = _("No usable answer from %(address)s.") % {"address": settings.UPSTREAM_BASE_URL}
        return Step("provider", title, False, seen, _("Check UPSTREAM_BASE_URL and this machine's network."))
    if balance is None and (code := denied_balance()):
        seen = _("It denies us the balance: %(code)s") % {"code": code}
        return Step("provider", title, False, seen, _("Ask the provider to let this account read its balance."))
    if balance is None:
        seen = _("Not asked yet.")
        if opens_at := first_request_at():
            seen = _("Not asked yet: the first request may go at %(time)s.") % {"time": time_of_day(opens_at)}
        return Step("provider", title, False, seen)
    return Step("provider", title, True, _("Its balance for us: %(balance)s") % {"balance": rupiah(balance)})


def _advice(code: str) -> str:
    steps: dict[str, str] = {
        ErrorCode.INVALID_CREDENTIALS: _("Correct UPSTREAM_SECRET_ID, then start ./run again."),
        ErrorCode.INVALID_SIGNATURE: _("Correct UPSTREAM_SECRET_KEY, then start ./run again."),
        ErrorCode.API_INACTIVE: _("Switch the API on in the provider's dashboard. It continues by itself."),
        ErrorCode.ACCOUNT_NOT_VERIFIED: _("Have the provider verify the account. It continues by itself."),
        ErrorCode.IP_NOT_ALLOWED: _("Put this machine's address on the provider's list. It continues by itself."),
    }
    return steps.get(code, _("./run doctor says what to do."))


def _callback(refusal: CallbackRefusal | None, *, has_come: bool) -> Step:
    title = gettext_lazy("The provider's callbacks arrive")
    if has_come or refusal is None:
        return Step("callback", title, has_come, "" if has_come else _("None has come yet."))
    seen = _("One came and was rejected: %(reason)s.") % {"reason": refusal.get_reason_display()}
    return Step("callback", title, False, seen, _("Check UPSTREAM_SECRET_KEY and the settings of callbacks."))


def _catalogue(sync: CatalogueSync | None, *, has_products: bool) -> Step:
    title = pgettext_lazy("step", "The catalogue")
    if has_products or sync is None or not sync.fault:
        return Step("catalogue", title, has_products, "" if has_products else _("Never fetched yet."))
    if sync.fault == SyncFault.RATE_LIMIT:
        return Step("catalogue", title, False, _("It is fetched as soon as the rate limits allow it."))
    return Step("catalogue", title, False, str(sync.get_fault_display()), sync.fault_detail)


def _people(person: User | None) -> Step:
    title = gettext_lazy("The people who sell")
    if person is None or person.has_joined:
        return Step("people", title, person is not None)
    seen = _("%(name)s is invited, and has not signed in yet.") % {"name": person.shown_name}
    return Step("people", title, False, seen)


@staff_only(Right.CHANGE_SHOP)
@require_GET
def first_steps(request: StaffRequest) -> HttpResponse:
    """The list; it keeps itself fresh."""
    own_address, site = _own_address(), site_of(request)
    more = {
        "callback_address": f"{site}{PATH}",
        "is_reachable": is_public(site),
        "own_address": own_address,
        "is_behind_router": bool(own_address) and not ipaddress.ip_address(own_address).is_global,
        "upstream": settings.UPSTREAM_BASE_URL,
        "secret_id": f"{settings.UPSTREAM_SECRET_ID[:4]}…",
    }
    return render(request, "backoffice/first_steps.html", {**_facts(request, _read(request)), **more})


@staff_only(Right.CHANGE_SHOP)
@require_GET
def first_steps_live(request: StaffRequest) -> HttpResponse:
    """The time of the next poll, and the steps that differ from the page; the overview once the list is closed."""
    if (first := FirstSteps.read(request.user)) is None:
        return HttpResponseClientRedirect(reverse("overview"))
    return render(request, "backoffice/first_steps.html#live", _facts(request, first))


@staff_only(Right.CHANGE_SHOP)
@require_POST
def first_steps_close(request: StaffRequest) -> HttpResponse:
    """Close the list permanently, even while steps are missing."""
    _read(request)
    close_first_steps(actor=request.user)
    messages.success(request, _("The list of first steps is closed."))
    return redirect("overview")


def _read(request: StaffRequest) -> FirstSteps:
    first = FirstSteps.read(request.user)
    if first is None:
        raise Http404
    return first


def _facts(request: StaffRequest, first: FirstSteps) -> dict[str, Any]:
    parts = {f"step-{step.name}": (step.is_done, step.seen, step.advice) for step in first.steps}
    live = Live(request, reverse("first_steps_live"), {**parts, "step-end": len(first.missing)})
    return {"first": first, "live": live}


def _own_address() -> str:
    """The address from which this machine sends; "" without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way_out:
        try:
            way_out.connect(_NOBODY)
        except OSError:
            return ""
        return str(way_out.getsockname()[0])
