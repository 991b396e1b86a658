"""The dashboard: what the document says is done "in the dashboard", and everything that the sandbox remembers."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from sandbox import account_settings, callbacks
from sandbox.engine import bills, ledger, settlement
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

PER_PAGE = 50
LARGEST = 1_000_000_000_000
PAGES = (
    ("account", "Account"),
    ("transactions", "Transactions"),
    ("inquiries", "Bill checks"),
    ("mutations", "Balance"),
    ("requests", "Requests"),
    ("deliveries", "Callbacks"),
    ("products", "Products"),
    ("magic", "Magic destinations"),
)
Action = Callable[..., str]


def _page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    context |= {"account": Account.objects.get(pk=1), "nav": PAGES}
    return render(request, f"sandbox/{template}.html", context)


def _list(request: HttpRequest, template: str, rows: QuerySet[Any, Any]) -> HttpResponse:
    """A page of rows, newest first, of all or of the one ref_id that `q` names."""
    sought = request.GET.get("q", "").strip()
    found = rows.filter(ref_id=sought) if sought else rows
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    return _page(request, template, {"page": page, "q": sought})


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """Credentials, activation, verification, IP addresses, callback, balance."""
    return _page(request, "account", {"styles": CallbackStyle.choices})


@require_safe
def transactions(request: HttpRequest) -> HttpResponse:
    """Purchases and bill payments, with buttons to settle or fail the pending ones."""
    return _list(request, "transactions", Transaction.objects.all())


@require_safe
def inquiries(request: HttpRequest) -> HttpResponse:
    """Bill checks, with a button to complete the pending ones."""
    return _list(request, "inquiries", Inquiry.objects.select_related("product"))


@require_safe
def mutations(request: HttpRequest) -> HttpResponse:
    """Every movement of the balance."""
    return _list(request, "mutations", Mutation.objects.all())


@require_safe
def received(request: HttpRequest) -> HttpResponse:
    """Every request on the wire, with the verdict on its signature."""
    return _list(request, "requests", ReceivedRequest.objects.all())


@require_safe
def deliveries(request: HttpRequest) -> HttpResponse:
    """Callbacks with their attempts, and a button to send one again."""
    return _list(request, "deliveries", Delivery.objects.prefetch_related("attempts"))


@require_safe
def products(request: HttpRequest) -> HttpResponse:
    """The catalogue, searchable by name or code."""
    sought = request.GET.get("q", "").strip()
    rows = Product.objects.select_related("brand__category")
    if sought:
        rows = rows.filter(product_name__icontains=sought) | rows.filter(product_code__iexact=sought)
    return _page(
        request, "products", {"page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")), "q": sought}
    )


@require_safe
def magic(request: HttpRequest) -> HttpResponse:
    """The table of magic destinations."""
    return _page(request, "magic", {"scenarios": SCENARIOS.values()})


def action(page: str) -> Callable[[Action], Callable[..., HttpResponse]]:
    """A POST that does one thing and goes back to `page` (or to where it came from) with a sentence.

    NotPossible turns into the sentence of what is wrong; nothing was changed then.
    """

    def decorate(act: Action) -> Callable[..., HttpResponse]:
        @require_POST
        @wraps(act)
        def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                messages.success(request, act(request, *args, **kwargs))
            except account_settings.NotPossible as fault:
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
    account_settings.regenerate_credentials()
    return "New credentials are in force; the old ones no longer work. See “For the backoffice” below."


@action("account")
def switch(request: HttpRequest) -> str:
    """Activate or deactivate the API, verify or unverify the account."""
    names = {"api_active": ("API activated", "API deactivated"), "verified": ("verified", "no longer verified")}
    name = request.POST.get("name", "")
    if name not in names:
        raise account_settings.NotPossible("there is no such switch")
    on = request.POST.get("on") == "1"
    account_settings.change({name: on})
    return f"Account: {names[name][0 if on else 1]}."


@action("account")
def set_addresses(request: HttpRequest) -> str:
    """Register the merchant's server addresses, one per line; none: every address may call."""
    addresses = request.POST.get("allowed_ips", "").replace(",", " ").split()
    account_settings.change({"allowed_ips": addresses})
    return f"{len(addresses)} addresses registered." if addresses else "Requests from every address are accepted."


@action("account")
def set_callback(request: HttpRequest) -> str:
    """Set where callbacks go and how they are signed."""
    account_settings.change(
        {
            "callback_url": request.POST.get("callback_url", "").strip(),
            "callback_style": request.POST.get("callback_style", ""),
        }
    )
    return "Callback settings saved."


@action("account")
def top_up(request: HttpRequest) -> str:
    """Add money."""
    amount = _amount(request)
    ledger.top_up(amount, note="dashboard")
    return f"Topped up by Rp{rupiah(amount)}."


@action("account")
def spend(request: HttpRequest) -> str:
    """Take money, as buying in the dashboard would: a movement that no API request caused."""
    amount = _amount(request)
    if ledger.adjust(-amount, note="spent in the dashboard") is None:
        raise account_settings.NotPossible("the balance does not cover this amount")
    return f"Rp{rupiah(amount)} spent."


def _amount(request: HttpRequest, name: str = "amount") -> int:
    text = request.POST.get(name, "").strip().removeprefix("Rp").replace(".", "")
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST):
        raise account_settings.NotPossible("the amount must be a whole number of rupiah above zero")
    return int(text)


@action("products")
def set_product(request: HttpRequest, product_code: str) -> str:
    """Change a product's price, disturb it, or let it vanish from the list."""
    state = request.POST.get("state", "")
    if state not in ("active", "inactive", "vanished"):
        raise account_settings.NotPossible("a product is active, inactive or vanished")
    product = get_object_or_404(Product, product_code=product_code)
    if product.brand.category.type == "prepaid":
        product.price = _amount(request, name="price")
    product.vanished = state == "vanished"
    product.status = "active" if state == "active" else "inactive"
    product.save(update_fields=["price", "vanished", "status"])
    return f"{product.product_name} changed; merchants see it when they fetch the list again."


@action("transactions")
def settle(request: HttpRequest, ref_id: str) -> str:
    """Bring a pending transaction to success or failed."""
    status = request.POST.get("status")
    if status not in ("success", "failed"):
        raise account_settings.NotPossible("a transaction ends in success or failed")
    if not settlement.settle(ref_id, "success" if status == "success" else "failed"):
        raise account_settings.NotPossible(f"{ref_id} is not pending any more")
    return f"{ref_id}: {status}."


@action("inquiries")
def complete(_request: HttpRequest, ref_id: str) -> str:
    """Make a pending bill check valid."""
    if not bills.complete_inquiry(ref_id):
        raise account_settings.NotPossible(f"{ref_id} is not pending any more")
    return f"{ref_id}: valid."


@action("deliveries")
def resend(_request: HttpRequest, delivery_id: str) -> str:
    """Send a callback again, with the same delivery id."""
    delivery = get_object_or_404(Delivery, delivery_id=delivery_id)
    callbacks.resend(delivery)
    return f"Callback of {delivery.ref_id} is being sent again."
