"""Every right of the house, one row each. All that depends on a right reads this table.

A right's constant, the permissions of the models, what each role begins with, who needs a second factor and what a PIN
may do all come from here; docs/roles.md is compared with it. A new right is one row, and a migration that gives it to
the roles of existing shops (`staff.rights.grant`).
"""

from __future__ import annotations

from enum import Flag, auto
from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class Role(models.TextChoices):
    """The roles, lowest first. People give lower roles, owners give any; owners are superusers, other roles groups."""

    VIEWER = "viewer", _("Viewer")
    CASHIER = "cashier", _("Cashier")
    SUPERVISOR = "supervisor", _("Supervisor")
    AUDITOR = "auditor", _("Auditor")
    ADMINISTRATOR = "administrator", _("Administrator")
    OWNER = "owner", _("Owner")

    @property
    def rank(self) -> int:
        """Its place in the order, from 0."""
        return list(Role).index(self)


class Area(models.TextChoices):
    """The areas of rights, in the order of the page about roles."""

    SELLING = "selling", _("Selling")
    CUSTOMERS = "customers", _("Customers")
    ORDERS = "orders", _("Orders")
    MONEY = "money", _("Money")
    PEOPLE = "people", _("People")


class Trait(Flag):
    """The traits of a right.

    `PIN`: a PIN at a till is enough. `UPSTREAM`: it spends a request, or money, at the upstream. `FACTOR`: its
    holder needs a second factor. `FRESH`: its act needs it each time (money, prices, people, full numbers, signing);
    `tests/roles/test_fresh.py` posts to every page behind such a right.
    `TWO`: two people do this together, or it decides who they are; so only owners give it. `OWNERS`: no role holds it.
    """

    PIN = auto()
    UPSTREAM = auto()
    FACTOR = auto()
    FRESH = auto()
    TWO = auto()
    OWNERS = auto()


_NONE, _PIN, _UPSTREAM, _FACTOR = Trait(0), Trait.PIN, Trait.UPSTREAM, Trait.FACTOR
_FRESH = _FACTOR | Trait.FRESH
_PROPOSAL = _FACTOR | Trait.TWO  # nothing happens before the approval, which takes the factor
_TWO = _FRESH | Trait.TWO
_OWNERS = _FRESH | Trait.OWNERS
# The roles that begin with a right. Owners hold every right.
_EVERYBODY = frozenset(Role)
_SELLERS = _EVERYBODY - {Role.VIEWER, Role.AUDITOR}
_HELPERS = _EVERYBODY - {Role.VIEWER}
_LEADERS = _SELLERS - {Role.CASHIER}
_READERS = _LEADERS | {Role.AUDITOR}
_CHECKERS = _READERS - {Role.SUPERVISOR}
_HEADS = _LEADERS & _CHECKERS
_ONLY_OWNERS = frozenset({Role.OWNER})


class Right(models.TextChoices):
    """A permission of Django as "app_label.codename"; its label is its name on the page about roles.

    A row: value, the model it hangs on, area, the roles that begin with it, its traits, words.
    """

    model: str
    area: Area
    begins_with: frozenset[Role]
    traits: Trait

    def __new__(cls, value: str, *row: Any) -> Right:
        """A member with its row; Django takes the label away before."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.model, member.area, member.begins_with, member.traits = row
        return member

    # fmt: off
    VIEW_PRODUCT = "catalogue.view_product", "product", Area.SELLING, _EVERYBODY, _PIN, _("See products and prices")
    VIEW_PRICE_CHANGES = ("catalogue.view_pricechange", "pricechange", Area.SELLING, _EVERYBODY, _PIN,
        _("See how prices have changed"))
    VIEW_COST = ("catalogue.view_cost", "product", Area.SELLING, _READERS, _NONE,
        _("See what the shop pays, and its profit"))
    CHANGE_PRICES = ("catalogue.change_pricerule", "pricerule", Area.SELLING, _HEADS, _TWO,
        _("Change selling prices; below cost with a second person"))
    PUBLISH_PRICES = ("catalogue.publish_prices", "publicpricelist", Area.SELLING, _ONLY_OWNERS, _NONE,
        _("Publish the price list by a secret link"))
    SELL_BELOW_COST = ("purchases.sell_below_cost", "order", Area.SELLING, _LEADERS, _NONE,
        _("Sell below cost, with a reason"))
    BUY = "purchases.buy", "order", Area.SELLING, _SELLERS, _PIN | _UPSTREAM, _("Sell products")
    RELEASE_BATCHES = ("batches.release_batch", "batch", Area.SELLING, _LEADERS, _FRESH | _UPSTREAM,
        _("Release batches: many sales from one table"))
    SELL_BY_PASSWORD = ("staff.sell_by_password", "user", Area.SELLING, frozenset({Role.OWNER}), _NONE,
        _("Sell with a password alone: without a second factor, and not at a till"))
    VIEW_BILLS = "bills.view_billcheck", "billcheck", Area.SELLING, _EVERYBODY, _PIN, _("See checked bills")
    CHECK_BILLS = ("bills.check_bill", "billcheck", Area.SELLING, _SELLERS, _PIN | _UPSTREAM,
        _("Check and pay bills"))
    SYNC_CATALOGUE = ("catalogue.sync_catalogue", "cataloguesync", Area.SELLING, _SELLERS, _PIN | _UPSTREAM,
        _("Fetch the catalogue at once"))

    VIEW_CUSTOMERS = ("customers.view_customer", "customer", Area.CUSTOMERS, _SELLERS, _PIN,
        _("See customers and their numbers"))
    ADD_CUSTOMERS = "customers.add_customer", "customer", Area.CUSTOMERS, _SELLERS, _PIN, _("Add customers")
    CHANGE_CUSTOMERS = ("customers.change_customer", "customer", Area.CUSTOMERS, _SELLERS, _PIN,
        _("Change customers and their numbers"))
    DELETE_CUSTOMERS = "customers.delete_customer", "customer", Area.CUSTOMERS, _SELLERS, _NONE, _("Delete customers")
    IMPORT_CUSTOMERS = ("customers.import_customers", "customer", Area.CUSTOMERS, _LEADERS, _NONE,
        _("Take customers from a file"))
    VIEW_NUMBERS = ("purchases.view_number", "order", Area.CUSTOMERS, _SELLERS, _PIN,
        _("See customers' full numbers"))
    REVEAL_NUMBERS = ("purchases.reveal_number", "order", Area.CUSTOMERS, _CHECKERS, _FRESH,
        _("Show one full number, each time noted, and make files with full numbers"))

    VIEW_ORDERS = "purchases.view_order", "order", Area.ORDERS, _EVERYBODY, _PIN, _("See all orders")
    RESOLVE_ORDERS = ("purchases.resolve_order", "order", Area.ORDERS, _LEADERS, _FACTOR | _UPSTREAM,
        _("Send again, close or cancel orders that need action"))
    PROPOSE_VERDICTS = ("purchases.propose_verdict", "order", Area.ORDERS, _LEADERS, _PROPOSAL,
        _("Propose how an order ended"))
    APPROVE_VERDICTS = ("purchases.decide_order", "order", Area.ORDERS, _HEADS, _TWO,
        _("Approve how an order ended"))
    NOTE_ORDERS = ("purchases.note_order", "order", Area.ORDERS, _SELLERS, _PIN,
        _("Write notes and tags on orders"))
    VIEW_APPROVALS = ("approvals.view_approval", "approval", Area.ORDERS, _READERS, _NONE,
        _("See everything that waits for a second person"))
    APPROVE_ORDERS = ("approvals.approve_order", "approval", Area.ORDERS, _LEADERS, _TWO,
        _("Approve orders above a person's limit"))
    VIEW_COMPLAINTS = "complaints.view_complaint", "complaint", Area.ORDERS, _HELPERS, _PIN, _("See complaints")
    HANDLE_COMPLAINTS = ("complaints.handle_complaint", "complaint", Area.ORDERS, _SELLERS, _PIN,
        _("Open, answer and close complaints"))
    VIEW_CALLBACKS = "callbacks.view_callback", "callback", Area.ORDERS, _CHECKERS, _NONE, _("See callbacks")
    PROCESS_CALLBACKS = ("callbacks.process_callback", "callback", Area.ORDERS, _HEADS, _FACTOR,
        _("Process a callback again"))
    VIEW_EXCHANGES = ("gateway.view_exchange", "exchange", Area.ORDERS, _CHECKERS, _FACTOR,
        _("See requests to the provider, and an order's full history"))

    VIEW_BOOKS = "ledger.view_books", "books", Area.MONEY, _EVERYBODY, _PIN, _("See the balance")
    READ_BALANCE = ("gateway.read_balance", "upstreamaccount", Area.MONEY, _SELLERS, _PIN | _UPSTREAM,
        _("Have the balance read at once"))
    VIEW_STATEMENT = ("ledger.view_entry", "entry", Area.MONEY, _CHECKERS, _FACTOR,
        _("See the statement, and make files of it"))
    VIEW_DIFFERENCES = ("reconciliation.view_difference", "difference", Area.MONEY, _READERS, _NONE,
        _("See differences"))
    VIEW_RECONCILIATIONS = ("reconciliation.view_reconciliationrun", "reconciliationrun", Area.MONEY, _CHECKERS, _NONE,
        _("See reconciliations"))
    ACKNOWLEDGE_DIFFERENCES = ("reconciliation.acknowledge_difference", "difference", Area.MONEY, _HEADS, _FRESH,
        _("Announce top-ups, and take money that was added into the books"))
    PROPOSE_ADJUSTMENTS = ("ledger.propose_adjustment", "entry", Area.MONEY, _LEADERS, _PROPOSAL,
        _("Propose to take missing money into the books"))
    APPROVE_ADJUSTMENTS = ("ledger.adjust_balance", "entry", Area.MONEY, _HEADS, _TWO,
        _("Approve that missing money goes into the books"))
    MATCH_BANK = ("bank.match_bank", "bankrow", Area.MONEY, _HEADS, _FACTOR,
        _("Read statements of the bank, and match their rows"))
    VIEW_ALERTS = "alerts.view_alert", "alert", Area.MONEY, _READERS, _NONE, _("See alerts")
    USE_DRAWERS = ("drawers.use_drawer", "drawer", Area.MONEY, _SELLERS, _PIN,
        _("Sell out of a drawer: open it, count it, close it"))
    GIVE_BACK = ("drawers.give_back", "payment", Area.MONEY, _SELLERS, _PIN,
        _("Note that a customer has the money back"))
    VIEW_SHIFTS = ("drawers.view_shifts", "shift", Area.MONEY, _READERS, _NONE,
        _("See all shifts and the closings of days, and make files of them"))
    MANAGE_DRAWERS = ("drawers.manage_drawers", "drawer", Area.MONEY, _HEADS, _FACTOR,
        _("Add drawers, and close other people's shifts"))
    SIGN_DAYS = "drawers.sign_day", "drawerday", Area.MONEY, _ONLY_OWNERS, _TWO, _("Sign the closing of a day")
    USE_CREDIT = ("credit.use_credit", "creditaccount", Area.MONEY, _SELLERS, _PIN,
        _("Sell on credit, and take payments of what is owed"))
    VIEW_CREDIT = ("credit.view_credit", "creditaccount", Area.MONEY, _READERS, _NONE,
        _("See what all customers owe, and make files of it"))
    MANAGE_CREDIT = ("credit.manage_credit", "creditaccount", Area.MONEY, _HEADS, _FRESH,
        _("Give customers credit, and change cap and due date"))

    VIEW_AUDIT = ("audit.view_auditevent", "auditevent", Area.PEOPLE, _CHECKERS, _FACTOR,
        _("See the activity log, and make files of it"))
    MANAGE_STAFF = ("staff.manage_staff", "user", Area.PEOPLE, _LEADERS, _FRESH,
        _("Invite people of lower roles, and manage their accounts"))
    ENROL_TILLS = ("tills.enrol_till", "till", Area.PEOPLE, _LEADERS, _FRESH,
        _("Enrol tills, unlock them and switch them off"))
    CHANGE_LIMITS = ("staff.change_limits", "user", Area.PEOPLE, _HEADS, _FRESH,
        _("Change the limits of people of lower roles"))
    CHANGE_ROLES = "staff.change_roles", "user", Area.PEOPLE, _ONLY_OWNERS, _OWNERS, _("Change what roles may do")
    CHANGE_POLICIES = ("policies.change_policies", "policies", Area.PEOPLE, _HEADS, _TWO,
        _("Change the shop's policies; looser ones with a second person"))
    CHANGE_SHOP = ("shop.change_settings", "shop", Area.PEOPLE, _HEADS, _NONE,
        _("Change the shop's name, address, logo and receipts"))
    # fmt: on

    @property
    def needs_two(self) -> bool:
        """Whether two people do this together."""
        return Trait.TWO in self.traits

    @property
    def asks_upstream(self) -> bool:
        """Whether it spends a request, or money, at the upstream."""
        return Trait.UPSTREAM in self.traits

    @classmethod
    def of(cls, model: str) -> list[tuple[str, str | _StrPromise]]:
        """The permissions of a model ("app_label.model", lower-case), for its `Meta`."""
        app_label, name = model.split(".")
        codenames = [
            right.partition(".")[2] for right in cls if right.model == name and right.startswith(f"{app_label}.")
        ]
        return [(codename, f"Can {codename.replace('_', ' ')}") for codename in codenames]


def _with(trait: Trait) -> frozenset[Right]:
    return frozenset(right for right in Right if trait in right.traits)


#: The rights that a role can hold, in the order of the page.
OF_ROLES = tuple(right for right in Right if Trait.OWNERS not in right.traits)
#: These show or change the whole shop, or name what every branch has sold: a person bound to a branch holds none.
OF_THE_SHOP = frozenset(
    {
        *(Right.VIEW_CALLBACKS, Right.PROCESS_CALLBACKS, Right.VIEW_EXCHANGES, Right.VIEW_AUDIT),
        *(Right.VIEW_STATEMENT, Right.VIEW_DIFFERENCES, Right.VIEW_RECONCILIATIONS, Right.ACKNOWLEDGE_DIFFERENCES),
        *(Right.PROPOSE_ADJUSTMENTS, Right.APPROVE_ADJUSTMENTS, Right.MATCH_BANK),
        *(Right.CHANGE_PRICES, Right.CHANGE_POLICIES, Right.CHANGE_SHOP, Right.SIGN_DAYS),
        Right.PUBLISH_PRICES,
    }
)
NEEDS_TWO, PIN_RIGHTS, STRONG_RIGHTS = _with(Trait.TWO), _with(Trait.PIN), _with(Trait.FACTOR)
