"""The same work in two branches; marks in its texts tell the second branch's work from the first's."""

import uuid
from dataclasses import dataclass
from typing import Any

from alerts.services.evaluating import evaluate_alerts
from approvals.models import Approval
from batches.models import Batch, BatchRow
from bills.models import BillCheck
from branches.models import Branch
from complaints.models import Complaint
from complaints.services import open_complaint
from core import clock
from drawers.models import Drawer, Shift
from drawers.services.shifts import close_shift
from purchases.models import Incident, Order, ReceiptPrint
from purchases.services.receipts import print_receipts
from shop.models import Paper
from staff.models import User
from staff.services import move
from testing.factories import make_check, make_order, make_payment
from testing.people import Browser, make_person, signed_in
from tests.approvals.helpers import ask_purchase
from tests.branches.helpers import make_branch
from tests.drawers.helpers import begin, pieces_of
from tests.tills.helpers import make_till
from tills.models import Till

# The marks on everything of the second branch: people, drawer, till, an order's product, number, each amount.
MARK, NUMBER, AMOUNT = "zebra", "081377077077", 77_700


@dataclass(frozen=True)
class Side:
    """One row of each kind of one branch."""

    branch: Branch
    person: User
    shift: Shift
    drawer: Drawer
    till: Till
    order: Order
    stuck: Order
    owed: Order
    bill: BillCheck
    complaint: Complaint
    approval: Approval
    receipt: ReceiptPrint
    batch: Batch


def make_batch(branch: Branch, *, name: str, number: str) -> Batch:
    """A batch with one row that has to be corrected."""
    batch = Batch.objects.create(branch=branch, sha256="0" * 64, name=f"{name}.csv")
    facts = {"state": "wrong", "fault": "no_product", "typed": number, "name": name}
    BatchRow.objects.create(batch=batch, line=1, ref_id=f"B-{name}", **facts)
    return batch


def make_side(branch: Branch, *, name: str, number: str, amount: int) -> Side:
    """Orders in every state that waits for a person, a closed and an open shift, and all rows that belong to them."""
    person = make_person("cashier", username=f"{name}-1", first_name=name, branch=branch, own_approval_above=10_000)
    drawer = Drawer.objects.create(name=f"Drawer {name}", branch=branch)
    close_shift(begin(person, drawer=drawer, cash=amount), pieces=pieces_of(amount), actor=person)
    shift = begin(person, drawer=drawer, cash=amount)
    facts = {"placed_by": person, "destination": number, "product_name": f"{name} 10", "selling_price": amount}
    order = make_order("success", price=amount - 1_000, **facts)
    stuck = make_order("needs_action", action_reason="balance_short", **facts)
    owed = make_order("reversed", price=amount - 1_000, **facts)
    make_order("unknown", sent_at="2026-01-01T00:00Z", **facts)
    Incident.objects.create(order=stuck, kind="contradiction", source="poll", detail="failed after success")
    bill = make_check(destination=number, customer_name=name, batch=uuid.uuid4())
    make_payment(bill, "success", placed_by=person, product_name=f"Bill {name}")
    other = make_order("success", price=amount - 1_000, **facts)
    return Side(
        branch=branch,
        person=person,
        shift=shift,
        drawer=drawer,
        till=make_till(name=f"Till {name}", branch=branch),
        order=order,
        stuck=stuck,
        owed=owed,
        bill=bill,
        complaint=open_complaint(stuck, words=f"{name} did not come", actor=person, due_at="2026-01-01T00:00Z"),
        approval=ask_purchase(person, number),
        receipt=print_receipts([[order, other]], paper=Paper.A5, printed_by=person)[0],
        batch=make_batch(branch, name=name, number=number),
    )


@dataclass(frozen=True)
class TwoBranches:
    """A supervisor who is bound to the first branch, and an owner."""

    own: Side
    other: Side
    supervisor: User
    owner: User

    def bound(self) -> Browser:
        """A browser of the bound supervisor."""
        return signed_in(self.supervisor)

    def sell_before_moving(self, status: str, **facts: Any) -> Order:
        """An order of today that the supervisor sold in the other branch, before an owner moved them here."""
        move(self.supervisor, branch=self.other.branch.pk, actor=self.owner)
        here = {"destination": NUMBER, "product_name": f"{MARK} 10", "selling_price": AMOUNT}
        seller = User.objects.get(pk=self.supervisor.pk)
        order = make_order(status, placed_by=seller, created_at=clock.now(), **here, **facts)
        move(self.supervisor, branch=self.own.branch.pk, actor=self.owner)
        return order

    @property
    def marks(self) -> list[str]:
        """The texts, in small letters, that no page may show to the bound supervisor."""
        refs = [self.other.order, self.other.stuck, self.other.owed, self.other.bill]
        amount = f"{AMOUNT:,}".replace(",", ".")
        return [MARK, amount, str(AMOUNT), NUMBER, *(row.ref_id.lower() for row in refs)]

    def said(self, text: str) -> list[str]:
        """The marks that are in this text."""
        return [mark for mark in self.marks if mark in text.lower()]


def make_two_branches() -> TwoBranches:
    """Make both sides, with the alerts about them; every page names branches from now on."""
    first = Branch.objects.get()
    other = make_side(make_branch("Tebet"), name=MARK.capitalize(), number=NUMBER, amount=AMOUNT)
    own = make_side(first, name="Melati", number="081288088088", amount=20_000)
    supervisor = make_person("supervisor", username="sonia", bound_since="2026-01-01T00:00Z")
    evaluate_alerts()
    return TwoBranches(own, other, supervisor, make_person("admin", username="boss-of-all"))
