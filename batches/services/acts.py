"""The act that takes a second person: a batch above the seller's limit, or of a seller who may not release it."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy as _, ngettext

from approvals.acts import Line, register
from approvals.models import Approval, Content
from batches.errors import BatchRefused
from batches.models import Batch
from batches.services.checking import recheck
from batches.services.releasing import (
    BATCH,
    content_of,
    lock_batch,
    lock_debtor,
    may_release,
    refuse_unless_open,
    start,
)
from core.money import rupiah
from core.rights import Right
from credit.methods import method_words
from drawers.models import Shift
from drawers.presenting.shifts import shift_words
from drawers.services import PaymentFacts
from purchases.errors import AboveLimit
from purchases.services.acts import SpendingAct
from purchases.services.placing import PAYMENT
from staff.models import User
from staff.services import limits_of


@register
class BatchAct(SpendingAct):
    """Exactly the rows of a checked batch, with their prices and how they are paid."""

    name = BATCH
    label = _("Release of a batch")
    may_ask = Right.RELEASE_BATCHES
    keeps_customer = False

    def may_be_asked_by(self, person: User) -> bool:
        """Everybody who sells may ask. If the asker may not release batches, the approver must have that right."""
        return person.has_perm(Right.BUY)

    def content_now(self, approval: Approval) -> Content:
        """The rows as they are now, checked once more. Raises `BatchRefused` when it was released or cancelled."""
        batch = lock_batch(approval.facts["batch"])
        refuse_unless_open(batch)
        recheck(batch)
        payment = PaymentFacts.of(approval.facts["payment"])
        return content_of(batch, seller=approval.asked_by, payment=payment)

    def execute(self, approval: Approval, *, approver: User) -> str:
        """Let it run for the asker; its orders name the approver."""
        batch, payment = lock_batch(approval.facts["batch"]), PaymentFacts.of(approval.facts["payment"])
        lock_debtor(payment)
        start(batch, seller=approval.asked_by, payment=payment, approval=approval)
        return str(batch.pk)

    def branch_of(self, content: Content, asker: User) -> int | None:
        return Batch.objects.values_list("branch", flat=True).get(pk=content["batch"])

    def refuse_approver(self, approval: Approval, person: User) -> None:
        """One of the two may release batches. Nobody approves a row that is more than they may spend for one order."""
        if not may_release(approval.asked_by, person):
            raise BatchRefused("not_releaser")
        limit = limits_of(person).per_order
        if limit is not None and approval.facts["largest"] > limit:
            raise AboveLimit(limit)

    def lines(self, content: Content) -> list[Line]:
        """The number of rows, their sum, and how they are paid."""
        rows = ngettext("%(n)s row", "%(n)s rows", content["rows"]) % {"n": content["rows"]}
        return [
            Line("name", _("Table"), content["name"] or gettext("Pasted rows")),
            Line("rows", _("Rows"), rows),
            Line("selling_price", _("Price"), rupiah(content["selling_price"])),
            Line("price", _("Cost"), rupiah(content["price"]), is_cost=True),
            *self.payment_lines(content),
            Line("sha256", _("Digest of the rows"), content["sha256"][:16]),
        ]

    @staticmethod
    def payment_lines(content: Content) -> list[Line]:
        """The way to pay, and the person whose drawer counts the money."""
        words = PaymentFacts.of(content[PAYMENT]).words or method_words(content[PAYMENT]["method"])
        return [
            Line(PAYMENT, _("Paid by"), words),
            Line("drawer", _("Drawer"), _drawer_words(content[PAYMENT]["shift"])),
        ]

    def about(self, approval: Approval) -> str:
        """The batch by its number and name, and how it is paid."""
        paid_by = method_words(approval.facts[PAYMENT]["method"])
        return f"{_('Batch')} {approval.about} · {paid_by}"

    def url(self, approval: Approval) -> str:
        return reverse("batch_detail", args=[approval.subject])

    def questions(self, approvals: Any) -> list[Any]:
        keys = {approval.facts["batch"] for approval in approvals if "batch" in approval.facts}
        return [Batch.objects.filter(pk__in=keys).order_by("pk")]

    def content_seen(self, approval: Approval, seen: Any) -> Content:
        """The content as it was asked for. Raises `BatchRefused` when the batch was released or cancelled."""
        for batch in seen.answers[0]:
            if batch.pk == approval.facts.get("batch"):
                refuse_unless_open(batch)
        return approval.facts


def _drawer_words(shift: int | None) -> str:
    """The drawer that the orders belong to, with the person of its shift."""
    found = Shift.objects.select_related("drawer", "cashier").filter(pk=shift).first() if shift else None
    return shift_words(found) if found else gettext("None: the sales are in no shift")
