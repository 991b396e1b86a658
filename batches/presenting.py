"""Batches as the pages show them: their totals, faults and progress."""

import datetime as dt
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Count, Q, QuerySet, Sum
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _, pgettext

from approvals.acts import Line
from approvals.models import Approval
from approvals.services import open_approval
from batches.errors import BatchRefused
from batches.models import GIVEN_UP, GROUPS, TICKED, UNTICKED, Batch, BatchRow
from batches.services import AHEAD, ASK_AGAIN, LEAVE_OUT, MEANT, NAMES
from batches.services.acts import BatchAct
from batches.services.releasing import BATCH
from batches.services.storing import not_served
from batches.states import ASKED_AGAIN, OF_PRODUCT, REPEATS, BatchState, Fault, RowState
from branches.seeing import narrowed
from core import clock
from core.looks import badge
from core.rights import Right
from credit.methods import method_words
from purchases.models import Order
from purchases.presenting import upstream_words
from purchases.services.placing import PAYMENT
from purchases.states import UNFULFILLED
from staff.models import User
from upstream.error_codes import meaning_of

_LEAST_TO_GUESS = 5
#: The groups of `GROUPS` in words.
GROUP_WORDS = {
    "asking": _("Being checked"),
    "wrong": _("To be corrected"),
    "waiting": _("Not sent yet"),
    "open": _("Under way"),
    "done": _("Done"),
    "failed": _("Failed"),
    "left": _("Left out or cancelled"),
}


def visible_batches(person: User) -> QuerySet[Batch]:
    """The batches that this person sees: the own ones; with the right to release batches, all of the branches seen."""
    rows = narrowed(Batch.objects.all())
    return rows if person.has_perm(Right.RELEASE_BATCHES) else rows.filter(created_by=person)


def why_stopped(batch: Batch) -> str:
    """The reason why it has stopped, or the rows that wait; in the reader's language for a reason of `BatchRefused`."""
    kind, _colon, reason = batch.stopped_by.partition(":")
    return str(BatchRefused(reason)) if kind == BatchRefused.__name__ else batch.why_stopped


def why_unfulfilled(order: Order) -> str:
    """The reason why an order is unfulfilled: our words for its code, else the provider's without costs; else ""."""
    if order.status not in UNFULFILLED:
        return ""
    said = upstream_words(order.message, order, with_cost=False)
    return str(meaning_of(order.error_code).words) if order.error_code else said or str(order.get_status_display())


def reason_of(row: BatchRow) -> str:
    """The reason why a row is not sold, or its order is unfulfilled; "" for a row without a fault."""
    return why_unfulfilled(row.order) if row.order else row.words


def state_badge(batch: Batch, *, is_under_way: bool = False) -> SafeString:
    """The badge of a batch's state; `is_under_way`: it has placed all of its orders, and some are still open."""
    if batch.state == BatchState.ENDED and is_under_way:
        return badge(RowState.PLACED.look, _("All orders placed"))
    return BatchState(batch.state).badge


@dataclass(frozen=True)
class FaultGroup:
    """The rows with the same fault: their number, how many are bills, and the steps for all of them."""

    fault: Fault
    count: int
    bills: int = 0

    @property
    def steps(self) -> list[str]:
        """The steps that one press can take with all of them."""
        if self.fault == Fault.ASKING:  # these rows are already left out
            return [ASK_AGAIN]
        more = {
            Fault.NAME_BEHIND: [NAMES],
            Fault.TWICE: [MEANT] if self.bills < self.count else [],  # nobody means the same bill twice
            **{fault: [MEANT] for fault in REPEATS},
            **{fault: [ASK_AGAIN] for fault in ASKED_AGAIN},
        }
        return [LEAVE_OUT, *more.get(self.fault, [])]

    @property
    def badge(self) -> SafeString:
        """The badge of the fault."""
        return (Fault.UNANSWERED if self.fault == Fault.ASKING else self.fault).badge

    @property
    def takes_product(self) -> bool:
        """Whether a product can be chosen for all of them."""
        return self.fault in OF_PRODUCT


@dataclass(frozen=True)
class ProductTotal:
    """The rows of one product that are to be sold; sums in rupiah."""

    code: str
    name: str
    count: int
    pays: int
    cost: int


class ShownBatch:
    """One batch with everything that its page says, read once."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.rows = BatchRow.objects.filter(batch=batch)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of rows of each group, and in `all`."""
        return self.rows.counts()

    @cached_property
    def totals(self) -> dict[str, int]:
        """`count`, `cost` and `pays` of the rows that are to be sold; rupiah."""
        return self.rows.totals()

    @cached_property
    def products(self) -> list[ProductTotal]:
        """The totals by product, the largest sum first."""
        groups = self.rows.filter(state=RowState.READY).values_list("product__code", "product__name")
        sums = groups.annotate(count=Count("pk"), pays=Sum("selling_price"), cost=Sum("max_price"))
        return [ProductTotal(*group) for group in sums.order_by("-pays", "product__code")]

    @cached_property
    def faults(self) -> list[FaultGroup]:
        """The faults, the most frequent one first."""
        rows = self.rows.filter(GROUPS["wrong"] | GIVEN_UP)
        bills = Count("pk", filter=Q(kind=Order.Kind.BILL))
        groups = rows.values_list("fault").annotate(count=Count("pk"), bills=bills)
        known = [FaultGroup(Fault(fault), count, bills) for fault, count, bills in groups if fault in Fault.values]
        return sorted(known, key=lambda group: -group.count)

    @property
    def names_no_product(self) -> bool:
        """Whether no row names a product, as under a heading without a column of products."""
        return not self.rows.exclude(what="").exists()

    @cached_property
    def bills(self) -> dict[str, int]:
        """The number of bills in `all`, of those that are `ticked`, and of those that `may` be."""
        counts = {"ticked": TICKED, "may": TICKED | UNTICKED}
        bills = self.rows.filter(kind=Order.Kind.BILL)
        return bills.aggregate(
            all=Count("pk"), **{name: Count("pk", filter=condition) for name, condition in counts.items()}
        )

    @property
    def is_asking(self) -> bool:
        """Whether billers are still being asked about bills that a person wants to see before the release."""
        return self.is_open and self.counts["asking"] > 0

    @property
    def pays_bills_only(self) -> bool:
        """Whether all rows to be sold are bills."""
        return 0 < self.totals["count"] == self.bills["ticked"]

    @property
    def bills_answered(self) -> int:
        """The number of its bills that the billers have answered."""
        return self.bills["all"] - self.counts["asking"]

    @cached_property
    def approval(self) -> Approval | None:
        """The open request for a second person; None without one."""
        return open_approval(BATCH, str(self.batch.pk)) if self.batch.state == BatchState.CHECKED else None

    @property
    def prepared_by(self) -> str:
        return self.batch.created_by.shown_name if self.batch.created_by else pgettext("batch", "Command")

    @property
    def released_by(self) -> str:
        """The names of the seller, and of the approver if there is one."""
        seller, approval = self.batch.released_by, self.batch.approval
        if seller is None:
            return pgettext("batch", "Command")
        if approval is None or approval.decided_by is None:
            return seller.shown_name
        names = {"seller": seller.shown_name, "approver": approval.decided_by.shown_name}
        return gettext("%(seller)s, approved by %(approver)s") % names

    @cached_property
    def payment_lines(self) -> list[Line]:
        """The lines about the payment and the person whose drawer counts it, once it is released or asked for."""
        if self.approval:
            return BatchAct.payment_lines(self.approval.facts)
        return BatchAct.payment_lines({PAYMENT: self.batch.payment.plain}) if self.batch.is_released else []

    @property
    def groups(self) -> list[tuple[str, object, int]]:
        """The groups of a released batch's rows, which nobody can correct any more: name, words, number."""
        return [
            (name, words, self.counts[name])
            for name, words in (GROUP_WORDS | {"wrong": _("Not corrected, not sold")}).items()
            if name != "asking" or self.counts[name]
        ]

    @property
    def badge(self) -> SafeString:
        """The badge of its state."""
        return state_badge(self.batch, is_under_way=self.counts["open"] > 0)

    @property
    def why_stopped(self) -> str:
        """The reason why it has stopped, or the rows that wait for a person; "" for none."""
        return why_stopped(self.batch)

    @property
    def is_open(self) -> bool:
        """Whether its rows can still be changed."""
        return self.batch.state == BatchState.CHECKED

    @property
    def is_running(self) -> bool:
        """Whether its rows are being placed."""
        return self.batch.state == BatchState.RUNNING

    @property
    def waits_for_outcomes(self) -> bool:
        """Whether it places no further row because too many of its orders have no known outcome."""
        return self.is_running and self.counts["unknown"] >= AHEAD

    @property
    def may_be_cancelled(self) -> bool:
        """Whether a part of it can still be cancelled."""
        return self.batch.state not in {BatchState.ENDED, BatchState.CANCELLED}

    @property
    def placed(self) -> int:
        """The number of rows that have become an order, or were refused."""
        return self.counts["open"] + self.counts["done"] + self.counts["failed"]

    @property
    def in_all(self) -> int:
        """The number of rows that are, or were, to be sold."""
        return self.placed + self.counts["waiting"] + self.counts["asking"]

    @property
    def ended(self) -> int:
        """The number of rows whose end is known."""
        return self.counts["done"] + self.counts["failed"]

    @property
    def is_over(self) -> bool:
        """Whether none of it will change by itself."""
        return self.batch.state not in {BatchState.CHECKED, BatchState.RUNNING} and not self.counts["open"]

    @property
    def is_at_rest(self) -> bool:
        """Whether it is over, or nobody has released it and all of its bills are checked."""
        return self.is_over or (self.is_open and not self.is_asking)

    @cached_property
    def never_ordered(self) -> dict[str, int]:
        """`count` and `pays` (rupiah) of the released rows without an order; empty before the end."""
        is_at_end = self.batch.state in {BatchState.ENDED, BatchState.CANCELLED}
        return self.rows.never_ordered() if is_at_end and self.batch.is_released else {}

    @property
    def has_failed_orders(self) -> bool:
        """Whether it has unfulfilled orders: each of them is a separate refund due."""
        return self.rows.filter(GROUPS["failed"], state=RowState.PLACED).exists()

    @property
    def method_words(self) -> str:
        """The words for how the whole batch is paid."""
        return method_words(self.batch.method)

    @property
    def again_count(self) -> int:
        """The number of rows that a new batch would try again."""
        is_possible = self.batch.is_released and not self.batch.texts_gone_at
        return not_served(self.batch).count() if is_possible else 0

    @cached_property
    def tried_again(self) -> list[Batch]:
        """The batches of rows that have failed in this one."""
        return [*self.batch.again.order_by("pk")] if self.batch.is_released else []

    @property
    def expected_end(self) -> dt.datetime | None:
        """The time at which the last order will be placed, at the pace so far.

        None after it, with few rows, or while it `waits_for_outcomes`.
        """
        begun, now = self.batch.released_at, clock.now()
        if not (self.is_running and begun and self.counts["waiting"]) or self.placed < _LEAST_TO_GUESS:
            return None
        if self.waits_for_outcomes:
            return None
        return now + (now - begun) / self.placed * self.counts["waiting"]

    @property
    def version(self) -> tuple[object, ...]:
        """The values that decide the look of its progress."""
        return self.batch.state, self.batch.why_stopped, *self.counts.values(), bool(self.approval)
