"""The dashboard: the steps that the document places "in the dashboard", and all rows of the sandbox."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from sandbox.errors import NotPossible
from sandbox.models import (
    Account,
    CallbackStyle,
    Delivery,
    Inquiry,
    Mutation,
    Product,
    ReceivedRequest,
    Transaction,
)
from sandbox.offers import rupiah
from sandbox.scenarios import SCENARIOS
from sandbox.services import account, bills, callbacks, catalogue, settlement

PER_PAGE = 50
LARGEST = 1_000_000_000_000
# the name of a page's address → its title
PAGES = {
    "account": "Account",
    "transactions": "Transactions",
    "inquiries": "Inquiries",
    "mutations": "Balance movements",
    "requests": "Requests",
    "deliveries": "Callbacks",
    "products": "Products",
    "magic": "Magic destinations",
}
ROWS: dict[str, QuerySet[Any, Any]] = {
    "transactions": Transaction.objects.all(),
    "inquiries": Inquiry.objects.select_related("product"),
    "mutations": Mutation.objects.all(),
    "requests": ReceivedRequest.objects.all(),
    "deliveries": Delivery.objects.prefetch_related("attempts"),
    "products": Product.objects.select_related("brand__category"),
}
Action = Callable[..., str]


def _page(request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
    context |= {"account": Account.objects.get(pk=1), "pages": PAGES.items(), "title": PAGES[name]}
    return render(request, f"sandbox/{name}.html", context)


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Credentials, activation, verification, IP addresses, callback, balance."""
    return _page(request, "account", {"styles": CallbackStyle.choices})


@require_safe
def rows(request: HttpRequest, name: str) -> HttpResponse:
    """A list, newest first: all rows, or the rows that `q` finds (a ref_id, or a product's name or code)."""
    sought = request.GET.get("q", "").replace("\0", "").strip()
    matches = ROWS[name].all()
    if sought and name == "products":
        matches = matches.filter(Q(product_name__icontains=sought) | Q(product_code__iexact=sought))
    elif sought:
        matches = matches.filter(ref_id=sought)
    page = Paginator(matches, PER_PAGE).get_page(request.GET.get("page"))
    return _page(request, name, {"page": page, "q": sought})


@require_safe
def magic(request: HttpRequest) -> HttpResponse:
    """The table of magic destinations."""
    return _page(request, "magic", {"scenarios": SCENARIOS.values()})


def action(page: str) -> Callable[[Action], Callable[..., HttpResponse]]:
    """A POST that does one thing and redirects to `next`, or to `page`, with a sentence.

    If the action raises NotPossible, the sentence says what is wrong, and nothing was changed.
    """

    def decorate(act: Action) -> Callable[..., HttpResponse]:
        @require_POST
        @wraps(act)
        def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                messages.success(request, act(request, *args, **kwargs))
            except NotPossible as fault:
                messages.error(request, str(fault))
            back = request.POST.get("next", "")
            if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
                back = reverse(page)
            return redirect(back)

        return view

    return decorate


@action("account")
def regenerate(_request: HttpRequest) -> str:
    """New credentials."""
    account.regenerate_credentials()
    return "The new credentials are valid; the old ones no longer work. See “For the backoffice” below."


@action("account")
def switch(request: HttpRequest) -> str:
    """Activate or deactivate the API, verify or unverify the account."""
    sentences = {"api_active": ("API activated", "API deactivated"), "verified": ("verified", "no longer verified")}
    name, on = request.POST.get("name", ""), request.POST.get("on") == "1"
    if name not in sentences:
        raise NotPossible("there is no such switch")
    account.change({name: on})
    return f"Account: {sentences[name][0 if on else 1]}."


@action("account")
def set_addresses(request: HttpRequest) -> str:
    """Register the merchant's server addresses, one per line; without any, every address may call."""
    addresses = request.POST.get("allowed_ips", "").replace(",", " ").split()
    account.change({"allowed_ips": addresses})
    return f"{len(addresses)} addresses registered." if addresses else "Requests from every address are accepted."


@action("account")
def set_callback(request: HttpRequest) -> str:
    """Set the callback URL and how callbacks are signed."""
    url, style = request.POST.get("callback_url", "").strip(), request.POST.get("callback_style", "")
    account.change({"callback_url": url, "callback_style": style})
    return "Callback settings saved."


@action("account")
def top_up(request: HttpRequest) -> str:
    """Top up the balance."""
    amount = _amount(request)
    account.top_up(amount, note="dashboard")
    return f"Topped up by Rp{rupiah(amount)}."


@action("account")
def spend(request: HttpRequest) -> str:
    """Take money without an API request, as a purchase in the dashboard would."""
    amount = _amount(request)
    account.spend(amount)
    return f"Rp{rupiah(amount)} spent."


def _amount(request: HttpRequest, name: str = "amount") -> int:
    text = request.POST.get(name, "").strip().removeprefix("Rp").replace(".", "")
    if not (text.isascii() and text.isdigit() and len(text) < 20 and 0 < int(text) <= LARGEST):
        raise NotPossible("the amount must be a whole number of rupiah above zero")
    return int(text)


@action("products")
def set_product(request: HttpRequest, product_code: str) -> str:
    """Change a product's price, make it unavailable, or delist it."""
    state = request.POST.get("state", "")
    if state not in ("active", "inactive", "delisted"):
        raise NotPossible("a product is active, inactive or delisted")
    product = get_object_or_404(Product, product_code=product_code)
    price = {"price": _amount(request, name="price")} if product.brand.category.type == "prepaid" else {}
    status = "active" if state == "active" else "inactive"
    catalogue.change(product_code, status=status, delisted=state == "delisted", **price)
    return f"{product.product_name} changed; merchants see it when they fetch the list again."


@action("transactions")
def settle(request: HttpRequest, ref_id: str) -> str:
    """Set a pending transaction to success or failed."""
    status = request.POST.get("status", "")
    settlement.settle(ref_id, status)
    return f"{ref_id}: {status}."


@action("inquiries")
def complete(_request: HttpRequest, ref_id: str) -> str:
    """Make a pending inquiry valid."""
    bills.complete_inquiry(ref_id)
    return f"{ref_id}: valid."


@action("deliveries")
def resend(_request: HttpRequest, delivery_id: str) -> str:
    """Send a callback again, with the same delivery id."""
    delivery = get_object_or_404(Delivery, delivery_id=delivery_id)
    callbacks.resend(delivery)
    return f"Callback of {delivery.ref_id} is being sent again."
