"""Helpers for several tests of bills."""

import datetime as dt
import re
from typing import Any

from django.http import HttpResponse
from django.utils import timezone

from bills import services
from bills.models import BillCheck
from catalogue.models import Product
from purchases.models import Order
from upstream.budget import CallClass


def start(number: int, *, product: Product | None = None) -> BillCheck:
    """A stored check of magic customer `number` at the electricity company; nothing was sent yet."""
    product = product or Product.objects.filter(type="postpaid", category__name__startswith="PLN").earliest("pk")
    return services.start_check(product=product, destination=f"5312900000{number:02d}", checked_by=None, enqueue=False)


def check_bill(number: int, *, wait: float = 5.0) -> BillCheck:
    """Start, inquire and follow a check without any worker, as the command does."""
    check = start(number)
    services.inquire(check.pk, call_class=CallClass.INTERACTIVE)
    return services.follow_check(check, seconds=wait)


def place(check: BillCheck, *, amount: int | None = None) -> Order:
    """A queued payment of `amount` rupiah, by default of the check's total; nobody sends it."""
    return services.pay_bill(check, amount=check.total or 0 if amount is None else amount, paid_by=None, enqueue=False)


def expire(check: BillCheck) -> None:
    """Let the check expire, so that it can no longer be paid."""
    BillCheck.objects.filter(pk=check.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))


def read(check: BillCheck) -> BillCheck:
    """The check with its present standing, and the ref_ids of the payments that block it."""
    return BillCheck.objects.with_standing().get(pk=check.pk)


def standing_on(page: HttpResponse) -> str:
    """The standing that the counter, or a bill's or an order's page, shows."""
    standing = re.search(r'(?:class="explained" id="bill-|data-standing=")(\w+)"', page.content.decode())
    return standing.group(1) if standing else ""


def posts_on(page: HttpResponse) -> set[str]:
    """The actions of the counter's buttons about a bill: "pay", "ask" and "again"."""
    return set(re.findall(r'action="/counter/bills/[^/"]+/(pay|ask|again)/"', page.content.decode()))


def at_counter(client: Any, check: BillCheck) -> Any:
    """The counter's answer for the bill."""
    return client.get(f"/counter/bills/{check.ref_id}/")


def leads_to_counter(client: Any, check: BillCheck) -> bool:
    """Whether the pages of the bill and of its payment lead to the counter; asserts that neither asks or pays."""
    kinds = ("bills", "orders") if Order.objects.filter(ref_id=check.ref_id).exists() else ("bills",)
    pages = [client.get(f"/{kind}/{check.ref_id}/").content.decode() for kind in kinds]
    assert not any('action="/counter/' in page for page in pages)
    [leads] = {f'id="bill-counter" href="/counter/bills/{check.ref_id}/"' in page for page in pages}
    return leads
