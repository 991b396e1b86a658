"""The counter's page: the field, its offers while a person types, and the strip of running orders."""

from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from branches.services import branch_to_show
from catalogue.marks import mark_of
from catalogue.models import Product, ProductType
from catalogue.services import find_product, read_products
from core.access import StaffRequest, staff_only
from core.live import Live
from core.notation import as_if_typed
from core.numbers import sees_whole_numbers
from core.rights import Right
from counter.presenting import STARTS, Tile, first_tiles, read_pills_and_strip, tabs_of, tiles_of, tiles_of_today
from counter.services import Choice, Typed, can_be_sold, read_choice
from counter.services.first_tiles import first_keys_at
from purchases.models import Order
from purchases.receipts import message_text, whatsapp_address
from shop.presenting import Letterhead
from shop.services import current_shop

# With nothing under way the strip is read again this often (seconds): another window may sell.
_REST = 30
_LONGEST, _MOST_PAGES = 100, 20


@staff_only(Right.VIEW_PRODUCT, Right.BUY)
@require_GET
def counter(request: StaffRequest) -> HttpResponse:
    """The page; for htmx only what the typed text offers."""
    facts = panel_facts(request)
    if request.headers.get("HX-Request"):
        part = "counter/panel.html#work" if request.headers.get("HX-Target") == "counter-work" else "counter/panel.html"
        return render(request, part, facts)
    return render(request, "counter/counter.html", {**facts, **strip_facts(request)})


@staff_only(Right.VIEW_PRODUCT, Right.BUY)
@require_GET
def counter_live(request: StaffRequest) -> HttpResponse:
    """The time of the next poll, and the strip if it differs from the page."""
    return render(request, "counter/strip.html#live", strip_facts(request))


@staff_only(Right.VIEW_PRODUCT, Right.BUY)
@require_GET
def counter_message(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Lead to WhatsApp with the text about an order, addressed to its number if that is a phone number."""
    if not (sees_whole_numbers() and request.user.has_perm(Right.VIEW_ORDERS)):
        raise PermissionDenied
    seen = Order.objects.for_table().select_related("payment").filter(number_erased=False)
    order = get_object_or_404(seen, ref_id=ref_id)
    text = message_text(order, Letterhead.of(current_shop(), branch_to_show(order.payment.branch_id)))
    return HttpResponseRedirect(whatsapp_address(order, text))


def panel_facts(request: StaffRequest, **more: Any) -> dict[str, Any]:
    """The field with the typed text, and its offers. `more`: the review, a bill, or a message.

    The values of the address or the form: `q` the text, `product` the product chosen before its number, `page`.
    """
    asked = request.POST if request.method == "POST" else request.GET
    text = as_if_typed(more.pop("q", asked.get("q", "")))[:_LONGEST]
    code = more.pop("pinned", asked.get("product", ""))[:100]
    pinned = find_pinned(code) if code else None
    page = asked.get("page", "")
    choice = more.pop("choice", None)
    if choice is None:
        choice = Choice(Typed("")) if pinned else choice_for(request, text, page=_page(page))
    is_idle = not text.strip() and not pinned and not more.keys() & {"bill", "biller", "chosen", "waiting"}
    tiles = _tiles_of_idle(request) if is_idle else tiles_of(choice)
    return {
        "q": text,
        "pinned": pinned,
        "choice": choice,
        "starts": STARTS,
        "operator_mark": mark_of(choice.operator.name) if choice.operator else "",
        "tiles": tiles,
        "bought_last": next((tile.label for tile in tiles if tile.is_last), ""),
        "tabs": tabs_of(choice),
        "page_back": _address(text, choice.page - 1) if choice.page else "",
        "page_on": _address(text, choice.page + 1) if choice.page < min(choice.pages - 1, _MOST_PAGES) else "",
        **more,
    }


def choice_for(request: StaffRequest, text: str, *, pick: str = "", page: int = 0) -> Choice:
    """The offers of the text for this person."""
    person = request.user
    return read_choice(
        text,
        pick=pick,
        page=page,
        first_keys=first_keys_at(_token_of(request)),
        sees_names=person.has_perm(Right.VIEW_CUSTOMERS) and sees_whole_numbers(),
        sees_orders=person.has_perm(Right.VIEW_ORDERS),
        sells_below_cost=person.has_perm(Right.SELL_BELOW_COST),
    )


def _tiles_of_idle(request: StaffRequest) -> list[Tile]:
    """The first tiles of this till, and the numbers of today."""
    below_cost = request.user.has_perm(Right.SELL_BELOW_COST)
    products = read_products(first_keys_at(_token_of(request)))
    firsts = first_tiles([product for product in products if can_be_sold(product, below_cost=below_cost)])
    return [*firsts, *tiles_of_today(request.user, after=len(firsts))]


def _token_of(request: StaffRequest) -> str:
    """The token of this browser as a till, set by `tills.middleware`."""
    token: str = request.till_token  # type: ignore[attr-defined]
    return token


def find_pinned(code: str) -> Product | None:
    """The product, or the biller, of this code."""
    return find_product(code, ProductType.PREPAID) or find_product(code, ProductType.POSTPAID)


def strip_facts(request: StaffRequest) -> dict[str, Any]:
    """The pills, the strip of the person's own orders, and when the page asks for news of them."""
    pills, strip = read_pills_and_strip(request.user)
    parts = {"counter-strip": strip.version, "counter-pills": pills}
    over = ["counter-pills", *([] if strip.moving else ["counter-strip"])]
    return {
        "pills": pills,
        "strip": strip,
        "live": Live(request, reverse("counter_live"), parts, over=over, rest=_REST),
    }


def _address(text: str, page: int) -> str:
    return f"{reverse('counter')}?{urlencode({'q': text, 'page': page})}"


def _page(text: str) -> int:
    return min(int(text), _MOST_PAGES) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
