"""Every right that a role can hold, in the words of the page about roles. A new right is one line here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from audit.kinds import Kind

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class Area(models.TextChoices):
    """What rights are about, in the order of the page."""

    SELLING = "selling", _("Selling")
    CUSTOMERS = "customers", _("Customers")
    ORDERS = "orders", _("Orders")
    MONEY = "money", _("Money")
    PEOPLE = "people", _("People")


@dataclass(frozen=True)
class Right:
    """A permission of Django, `name` as "app_label.codename".

    `model`: the lower-case name of the model that it hangs on. `needs_two`: two people do this together, or it decides
    who they are; so only owners give it. `asks_upstream`: it spends a request, or money, at the upstream.
    """

    name: str
    model: str
    area: Area
    words: _StrPromise
    needs_two: bool = False
    asks_upstream: bool = False


RIGHTS = (
    Right("catalogue.view_product", "product", Area.SELLING, _("See products and prices")),
    Right("catalogue.view_pricechange", "pricechange", Area.SELLING, _("See how prices have changed")),
    Right("catalogue.view_cost", "product", Area.SELLING, _("See what the shop pays, and its profit")),
    Right(
        "catalogue.change_pricerule",
        "pricerule",
        Area.SELLING,
        _("Change selling prices; below cost with a second person"),
        needs_two=True,
    ),
    Right("purchases.sell_below_cost", "order", Area.SELLING, _("Sell below cost, with a reason")),
    Right("purchases.buy", "order", Area.SELLING, _("Buy products"), asks_upstream=True),
    Right("bills.view_billcheck", "billcheck", Area.SELLING, _("See checked bills")),
    Right("bills.check_bill", "billcheck", Area.SELLING, _("Check and pay bills"), asks_upstream=True),
    Right(
        "catalogue.sync_catalogue", "cataloguesync", Area.SELLING, _("Fetch the catalogue at once"), asks_upstream=True
    ),
    Right("customers.view_customer", "customer", Area.CUSTOMERS, _("See customers and their numbers")),
    Right("customers.add_customer", "customer", Area.CUSTOMERS, _("Add customers")),
    Right("customers.change_customer", "customer", Area.CUSTOMERS, _("Change customers and their numbers")),
    Right("customers.delete_customer", "customer", Area.CUSTOMERS, _("Delete customers")),
    Right("purchases.view_number", "order", Area.CUSTOMERS, _("See customers' whole numbers")),
    Right(
        "purchases.reveal_number",
        "order",
        Area.CUSTOMERS,
        _("Show one whole number, each time noted, and make files with whole numbers"),
    ),
    Right("purchases.view_order", "order", Area.ORDERS, _("See all orders")),
    Right(
        "purchases.resolve_order",
        "order",
        Area.ORDERS,
        _("Send again, close or cancel orders that need action"),
        asks_upstream=True,
    ),
    Right("purchases.propose_verdict", "order", Area.ORDERS, _("Propose how an order ended"), needs_two=True),
    Right("purchases.decide_order", "order", Area.ORDERS, _("Approve how an order ended"), needs_two=True),
    Right("approvals.view_approval", "approval", Area.ORDERS, _("See everything that waits for a second person")),
    Right(
        "approvals.approve_order", "approval", Area.ORDERS, _("Approve orders above a person's limit"), needs_two=True
    ),
    Right("complaints.view_complaint", "complaint", Area.ORDERS, _("See complaints")),
    Right("complaints.handle_complaint", "complaint", Area.ORDERS, _("Open, answer and close complaints")),
    Right("callbacks.view_callback", "callback", Area.ORDERS, _("See callbacks")),
    Right("callbacks.process_callback", "callback", Area.ORDERS, _("Process a callback again")),
    Right(
        "gateway.view_exchange", "exchange", Area.ORDERS, _("See requests to the upstream, and an order's whole story")
    ),
    Right("ledger.view_books", "books", Area.MONEY, _("See the balance")),
    Right(
        "gateway.read_balance", "upstreamaccount", Area.MONEY, _("Have the balance read at once"), asks_upstream=True
    ),
    Right("ledger.view_entry", "entry", Area.MONEY, _("See the statement, and make files of it")),
    Right("reconciliation.view_difference", "difference", Area.MONEY, _("See differences")),
    Right("reconciliation.view_reconciliationrun", "reconciliationrun", Area.MONEY, _("See reconciliations")),
    Right(
        "reconciliation.acknowledge_difference",
        "difference",
        Area.MONEY,
        _("Announce top-ups, and take money that was added into the books"),
    ),
    Right(
        "ledger.propose_adjustment",
        "entry",
        Area.MONEY,
        _("Propose to take missing money into the books"),
        needs_two=True,
    ),
    Right(
        "ledger.adjust_balance",
        "entry",
        Area.MONEY,
        _("Approve that missing money goes into the books"),
        needs_two=True,
    ),
    Right("alerts.view_alert", "alert", Area.MONEY, _("See alerts")),
    Right("drawers.use_drawer", "drawer", Area.MONEY, _("Sell out of a drawer: open it, count it, close it")),
    Right("drawers.give_back", "refund", Area.MONEY, _("Note that a customer has the money back")),
    Right(
        "drawers.view_shifts", "shift", Area.MONEY, _("See all shifts and the closings of days, and make files of them")
    ),
    Right("drawers.manage_drawers", "drawer", Area.MONEY, _("Add drawers, and close other people's shifts")),
    Right("drawers.sign_day", "drawerday", Area.MONEY, _("Sign the closing of a day"), needs_two=True),
    Right("credit.use_credit", "creditaccount", Area.MONEY, _("Sell on credit, and take payments of what is owed")),
    Right("credit.view_credit", "creditaccount", Area.MONEY, _("See what all customers owe, and make files of it")),
    Right("credit.manage_credit", "creditaccount", Area.MONEY, _("Give customers credit, and change cap and due date")),
    Right("audit.view_auditevent", "auditevent", Area.PEOPLE, _("See what people did, and make files of it")),
    Right("staff.manage_staff", "user", Area.PEOPLE, _("Invite people of lower roles, and manage their accounts")),
    Right("tills.enrol_till", "till", Area.PEOPLE, _("Enrol tills, unlock them and switch them off")),
    Right("staff.change_limits", "user", Area.PEOPLE, _("Change the limits of people of lower roles")),
    Right("shop.change_settings", "shop", Area.PEOPLE, _("Change the shop's name, address, logo and receipts")),
)
BY_NAME = {right.name: right for right in RIGHTS}
NEEDS_TWO = frozenset(right.name for right in RIGHTS if right.needs_two)
#: The subject of the event from which on each right that a role gets has an event; it says what they held then.
ALL_ROLES = "roles"
_BY_MIGRATION = {"kind": Kind.ROLE_EDITED.value, "facts": {"by": "migration"}}


@transaction.atomic
def grant(apps: Any, role: str, *names: str) -> None:
    """For migrations: give these rights to a role, which keeps what it has, with an event. `apps`: the migration's.

    The permissions need not be there yet: Django makes those of all rooms only after the last migration.
    """
    group, _is_new = apps.get_model("auth", "Group").objects.get_or_create(name=role)
    group.permissions.add(*[_permission(apps, BY_NAME[name]) for name in names])
    try:
        events = apps.get_model("audit", "AuditEvent").objects
    except LookupError:  # the first migrations
        return
    if events.filter(subject=ALL_ROLES, **_BY_MIGRATION).exists():
        events.create(subject=role, after={"given": list(names)}, **_BY_MIGRATION)


def begin_events(apps: Any) -> None:
    """For one migration: say what each role holds now; from here on every further right has an event."""
    groups = apps.get_model("auth", "Group").objects.prefetch_related("permissions__content_type")
    held = {
        group.name: sorted(f"{one.content_type.app_label}.{one.codename}" for one in group.permissions.all())
        for group in groups.order_by("pk")
    }
    apps.get_model("audit", "AuditEvent").objects.create(subject=ALL_ROLES, after=held, **_BY_MIGRATION)


def _permission(apps: Any, right: Right) -> Any:
    app_label, codename = right.name.split(".")
    content_type, _is_new = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label=app_label, model=right.model
    )
    permission, _is_new = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=content_type, codename=codename, defaults={"name": f"Can {codename.replace('_', ' ')}"}
    )
    return permission
