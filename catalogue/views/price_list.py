"""The price list for customers: chosen by brand, as paper, picture and text; and its public page."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from catalogue.errors import PublicListRefused
from catalogue.presenting import PriceText, categories_of, price_text
from catalogue.services.price_list import (
    PriceSection,
    current_public_list,
    find_public_list,
    mark_of_public_list,
    publish_prices,
    read_price_sections,
    withdraw_prices,
)
from core.access import StaffRequest, staff_only
from core.addresses import address_of, site_of
from core.customer_texts import whatsapp_link
from core.errors import refusal_shown
from core.keys import typed_keys
from core.rights import Right
from shop.presenting import Letterhead
from shop.services import current_shop
from staff.presenting import qr_code
from staff.services.throttle import Slowed

_TOO_MANY = 429


@staff_only(Right.VIEW_PRODUCT)
@require_GET
def price_list(request: StaffRequest) -> HttpResponse:
    """The brands to choose from, the list to print or to send as a picture, and a text for each brand."""
    sections = read_price_sections()
    chosen = _chosen(request.GET, sections)
    return render(request, "catalogue/price_list.html", _context(sections, chosen))


@staff_only(Right.VIEW_PRODUCT, Right.PUBLISH_PRICES)
@require_http_methods(["GET", "POST"])
def price_list_link(request: StaffRequest) -> HttpResponse:
    """Whether the list is public. POST makes a link, which only this answer shows; POST with `off` ends the link."""
    if "off" in request.POST:
        withdraw_prices(actor=request.user)
        messages.success(request, _("The public page is switched off."), extra_tags="public_prices_off")
        return redirect("price_list_link")
    sections = read_price_sections()
    known = {section.brand for section in sections}
    context: dict[str, Any] = {}
    if request.method == "POST":
        is_all = request.POST.get("all") == "1"
        brands = set() if is_all else _keys(request.POST) & known
        if not is_all and not brands:
            messages.error(request, _("Tick at least one brand."), extra_tags="no_brand")
            return redirect("price_list_link")
        with refusal_shown(request):
            context = _new_link(request, brands)
        if not context:
            return redirect("price_list_link")
    public = current_public_list()
    chosen = known if public is None or not public.brands else set(public.brands)
    context |= {"public": public, "mark": mark_of_public_list(), "is_all": public is None or not public.brands}
    return render(request, "catalogue/price_list_link.html", {**_context(sections, chosen), **context})


def _new_link(request: StaffRequest, brands: set[int]) -> dict[str, Any]:
    seen = request.POST.get("seen", "")
    if current_public_list() and seen == mark_of_public_list() and "ends_old" not in request.POST:
        raise PublicListRefused("not_agreed")
    token = publish_prices(brands, actor=request.user, seen=seen)
    link = f"{site_of(request)}{reverse('public_prices')}?{urlencode({'link': token})}"
    return {"link": link, "whatsapp": whatsapp_link(link), "qr_code": qr_code(link)}


@never_cache
@require_GET
def public_prices(request: HttpRequest) -> HttpResponse:
    """The list for anybody who has its link; 404 for any other link, and 429 after too many wrong ones."""
    try:
        public = find_public_list(request.GET.get("link", ""), address=address_of(request))
    except Slowed as slowed:
        return _hidden(render(request, "catalogue/no_public_prices.html", {"wait": slowed.seconds}, status=_TOO_MANY))
    if public is None:
        return _hidden(render(request, "catalogue/no_public_prices.html", status=404))
    sections = read_price_sections(public.brands or None)
    return _hidden(render(request, "catalogue/public_prices.html", _list(sections)))


def _hidden(answer: HttpResponse) -> HttpResponse:
    """Keep the page out of search engines, and the link from other sites."""
    answer.headers["X-Robots-Tag"] = "noindex, nofollow"
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


def _chosen(asked: QueryDict, sections: Sequence[PriceSection]) -> set[int]:
    """The brands in the address: all, the ticked ones, or at first those of the category that sells most."""
    if "all" in asked:
        return {section.brand for section in sections}
    if "brand" in asked:
        return _keys(asked)
    return {section.brand for section in sections if section.category == sections[0].category}


def _keys(asked: QueryDict) -> set[int]:
    return set(typed_keys(asked.getlist("brand")))


def _context(sections: Sequence[PriceSection], chosen: set[int]) -> dict[str, Any]:
    facts = _list([section for section in sections if section.brand in chosen])
    texts: list[PriceText] = [price_text(section, facts["head"], facts["at"]) for section in facts["sections"]]
    return {**facts, "categories": categories_of(sections, chosen), "texts": texts, "has_any": bool(sections)}


def _list(sections: Sequence[PriceSection]) -> dict[str, Any]:
    """The list itself: the shop's letterhead, the time of the prices, and the sections."""
    return {"head": Letterhead.of(current_shop()), "at": timezone.now(), "sections": sections}
