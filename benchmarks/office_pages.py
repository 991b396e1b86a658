"""The pages of the office, for `pages.py`: reports, bank, bills due, lists with columns, people, evidence."""

from collections.abc import Iterator
from typing import Any

_ROWS = 200


def fill_office() -> None:
    """Give the shop two branches, a statement of the bank with rows of the last days, and bills due; once."""
    import datetime as dt

    from django.utils import timezone

    from bank.models import BankAccount, BankFile, BankRow
    from branches.models import Branch
    from customers.models import SavedNumber
    from dues.models import DueBill, FollowedNumber
    from staff.models import User

    if BankFile.objects.exists():
        return
    owner, today = User.objects.get(username="owner"), timezone.localdate()
    account = BankAccount.objects.create(name="BCA 1")
    days = [today - dt.timedelta(days=number % 7) for number in range(_ROWS)]
    of_file = {"sha256": "0" * 64, "read_at": timezone.now(), "first_day": min(days), "last_day": max(days)}
    file = BankFile.objects.create(account=account, name="bank.csv", read_by=owner, **of_file)
    rows = (
        BankRow(account=account, file=file, day=day, amount=50_000 + number, text="TRSF", nth=1)
        for number, day in enumerate(days)
    )
    BankRow.objects.bulk_create(rows)
    Branch.objects.create(name="Second")
    month = today.replace(day=1)
    for number in SavedNumber.objects.bills()[:50]:
        FollowedNumber.objects.create(number=number, day=1, first_month=month)
        DueBill.objects.create(number=number, month=month, due_on=month, ask_at=timezone.now())


def office_pages() -> Iterator[tuple[str, str]]:
    """Reports, bank, bills due, branches, and lists with other columns: (name, address).

    The foot of the orders is left out: it reads up to 10,000 rows before it uses the sums of days.
    """
    from urllib.parse import urlencode

    from django.urls import reverse
    from django.utils import timezone

    from bank.models import BankRow
    from branches.models import Branch
    from exports.listing import listing_named

    today = timezone.localdate()
    earnings = reverse("earnings")
    for by in ("brand", "customer"):
        yield f"earnings of today by {by}", f"{earnings}?by={by}"
    yield "work", reverse("work")
    yield "bank, 7 days", reverse("bank")
    yield "bank", f"{reverse('bank')}?{urlencode({'since': today, 'until': today})}"
    yield "read a statement", reverse("bank_read")
    yield "row of the bank", reverse("bank_row", args=[BankRow.objects.earliest("pk").pk])
    yield "bills due", reverse("due_list")
    yield "branches", reverse("shop_branches")
    yield "branch", reverse("shop_branch", args=[1])
    yield "orders of a branch", f"{reverse('order_list')}?branch=1"
    customers = reverse("customer_list")
    yield "customers of a branch", f"{customers}?branch=1"
    yield "customers of a branch, nobody", f"{customers}?branch={Branch.objects.latest('pk').pk}"
    yield "backups", reverse("backups")
    for name in ("orders", "bills", "customers", "complaints", "differences"):
        listing = listing_named(name)
        columns = ",".join(column.name for column in listing.table.every_column)
        page = reverse(f"{listing.page}_list")
        yield f"{name}, all columns", f"{page}?{urlencode({'columns': columns})}"
        if name != "orders":
            yield f"{name}, foot", reverse(f"{listing.page}_sums")


def people() -> Iterator[tuple[str, str]]:
    """The pages about approvals, tills, staff and one's account: (name, address). The history has no approvals."""
    from django.urls import reverse

    from approvals.models import Approval
    from staff.models import User
    from tills.models import Till

    yield "approvals", reverse("approval_list")
    yield "approvals, refused", f"{reverse('approval_list')}?state=refused"
    if approval := Approval.objects.first():
        yield "approval", approval.get_absolute_url()
    yield "tills", reverse("till_list")
    yield "add a till", reverse("till_add")
    if till := Till.objects.first():
        yield "till", reverse("till_detail", args=[till.pk])
    yield "staff", reverse("staff_list")
    yield "person, with limits", User.objects.get(username="cashier").get_absolute_url()
    yield "invite", reverse("staff_invite")
    yield "roles", reverse("role_list")
    yield "role", reverse("role_detail", args=["supervisor"])
    yield "own factors", reverse("own_factors")
    yield "own PIN", reverse("own_pin")
    yield "own account", reverse("preferences")
    yield "files", reverse("export_list")


def workbench(order: Any) -> Iterator[tuple[str, str]]:
    """The pages of auditors and support: (name, address)."""
    from django.urls import reverse

    from gateway.models import Exchange

    exchange = Exchange.objects.filter(pk__gte=Exchange.objects.latest("pk").pk // 2).earliest("pk")
    lists = reverse("exchange_list")
    yield "exchanges", lists
    yield "exchanges, far back", f"{lists}?older={exchange.sent_at:%Y%m%dT%H%M%S.%f}-{exchange.pk}"
    for endpoint in ("balance", "bill_inquiry", "products"):
        yield f"exchanges, {endpoint}", f"{lists}?endpoint={endpoint}"
    yield "exchanges, errors", f"{lists}?outcome=error"
    yield "exchanges, errors of an endpoint", f"{lists}?outcome=error&endpoint=transaction_create"
    yield "exchanges, one error", f"{lists}?error=OutcomeUnknown: timeout"
    yield "exchanges, one error of an endpoint", f"{lists}?error=OutcomeUnknown: timeout&endpoint=transaction_create"
    yield "exchanges, search: ref_id", f"{lists}?q={order.ref_id}"
    yield "exchanges, search: trx_id", f"{lists}?q={order.trx_id}"
    yield "exchanges, search: what is not there", f"{lists}?q=ZZ-NOT-THERE"
    yield "exchange", reverse("exchange_detail", args=[exchange.pk])
    yield "errors", reverse("error_list")
    yield "story", reverse("order_story", args=[order.ref_id])
    yield "story, file", reverse("order_story_file", args=[order.ref_id])
    audit = reverse("audit_list")
    yield "audit", audit
    yield "audit of a person", f"{audit}?person=owner"
    yield "audit, exports", f"{audit}?kind=export_made"
    yield "audit, search", f"{audit}?q={order.ref_id}"
