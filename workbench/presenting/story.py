"""One order's full history, line by line in the order of time: the event, the person, and the person's address."""

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Model
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from approvals.models import Approval, ApprovalState
from approvals.services import may_open
from audit.events import event_label
from audit.facts import change_words
from audit.models import AuditEvent
from bills.models import Inquiry
from callbacks.models import Callback, CallbackState
from callbacks.presenting import result_words
from core.looks import LookChoices
from core.money import rupiah, signed_rupiah
from core.numbers import note_as_seen, text_as_seen
from core.rights import Right
from core.times import day_words
from credit.models import CreditEntry
from credit.services import name_of
from drawers.models import DrawerEntry, Payment
from gateway.models import Exchange
from ledger.models import Entry
from purchases.incident_words import incident_words
from purchases.models import Incident, OrderEvent, ReceiptPrint, Verdict
from purchases.presenting import event_words
from purchases.states import Status
from reconciliation.models import Difference
from staff.models import User
from tills.models import DrawerOpening
from tills.presenting import opening_words
from workbench.presenting.exchanges import endpoint_words, milliseconds, result_of
from workbench.services.story import Story, facts_of


class LineKind(LookChoices):
    """The kinds of lines."""

    EVENT = "event", "timeline-event", "going", pgettext_lazy("story", "Status")
    EXCHANGE = "exchange", "arrows-exchange", "held", pgettext_lazy("story", "Request")
    CALLBACK = "callback", "webhook", "held", gettext_lazy("Callback")
    ENTRY = "entry", "wallet", "going", pgettext_lazy("story", "Books")
    DRAWER = "drawer", "cash-register", "going", gettext_lazy("Drawer")
    CREDIT = "credit", "notebook", "going", gettext_lazy("Tab")
    INQUIRY = "inquiry", "file-invoice", "going", gettext_lazy("Inquiry")
    INCIDENT = "incident", "alert-triangle", "bad", gettext_lazy("Incident")
    VERDICT = "verdict", "users", "warn", pgettext_lazy("story", "Decision")
    APPROVAL = "approval", "checks", "warn", gettext_lazy("Approval")
    RECEIPT = "receipt", "printer", "going", gettext_lazy("Receipt")
    DIFFERENCE = "difference", "wallet", "warn", gettext_lazy("Difference")
    AUDIT = "audit", "fingerprint", "held", pgettext_lazy("story", "Audit")


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line. `who` and `address` are "" when they are not known; `code` is the same in every language."""

    at: dt.datetime
    kind: LineKind
    code: str
    words: str
    row: Model
    detail: str = ""
    who: str = ""
    address: str = ""
    url: str = ""

    def as_json(self) -> dict[str, Any]:
        """The line for a file: its facts, and the whole row behind it."""
        return {
            "at": self.at,
            "kind": self.kind.value,
            "code": self.code,
            "who": self.who or None,
            "address": self.address or None,
            "row": facts_of(self.row),
        }


def lines_of(story: Story, reader: User) -> list[Line]:
    """The lines of a full history, oldest first, with the order's destination and the links as the reader may see."""
    lines = (line for model, lines_in in _LINES_OF.items() for row in story.of(model) for line in lines_in(row))
    return sorted((_seen(line, story, reader) for line in lines), key=lambda line: line.at)


def _seen(line: Line, story: Story, reader: User) -> Line:
    is_of_shift = isinstance(line.row, Payment | DrawerEntry)
    is_closed = isinstance(line.row, Approval) and not may_open(line.row, reader)
    if is_closed or (is_of_shift and not reader.has_perm(Right.VIEW_SHIFTS)):
        line = replace(line, url="")
    return replace(line, detail=text_as_seen(line.detail, story.order.destination)) if line.detail else line


def _event(event: OrderEvent) -> Iterator[Line]:
    words, source = str(Status(event.to_status).label), event.get_source_display()
    if event.to_status == Status.SENDING:
        source = _("Our request")
    note = note_as_seen(event.note) if event.actor else event.note
    if event.from_status and event.from_status != event.to_status:
        words = f"{Status(event.from_status).label} → {words}"
    yield Line(
        at=event.at,
        kind=LineKind.EVENT,
        code=event.to_status,
        words=words,
        detail=" ".join(filter(None, [event_words(event), note])),
        who=event.actor.username if event.actor else source,
        row=event,
    )


def _exchange(exchange: Exchange) -> Iterator[Line]:
    outcome = exchange.status or (exchange.outcome if exchange.error else "")
    facts = [str(result_of(exchange.error).label), outcome, milliseconds(exchange.latency_ms)]
    if exchange.http_status:
        facts.insert(1, f"HTTP {exchange.http_status}")
    yield Line(
        at=exchange.sent_at,
        kind=LineKind.EXCHANGE,
        code=exchange.endpoint,
        words=endpoint_words(exchange.endpoint),
        detail=" · ".join(filter(None, facts)),
        url=reverse("exchange_detail", args=[exchange.pk]),
        row=exchange,
    )


def _callback(callback: Callback) -> Iterator[Line]:
    facts = [str(CallbackState(callback.state).label), result_words(callback)]
    if callback.repeats:
        facts.append(_("Repeat deliveries") + f": {callback.repeats}")
    yield Line(
        at=callback.received_at,
        kind=LineKind.CALLBACK,
        code=callback.state,
        words=callback.event or _("callback"),
        detail=" · ".join(filter(None, facts)),
        address=callback.source_address or "",
        url=reverse("callback_detail", args=[callback.pk]),
        row=callback,
    )


def _entry(entry: Entry) -> Iterator[Line]:
    amount = signed_rupiah(entry.balance_change) if entry.balance_change else rupiah(entry.amount)
    balance = _("balance %(balance)s, reserved %(reserved)s") % {
        "balance": rupiah(entry.balance_after),
        "reserved": rupiah(entry.reserved_after),
    }
    yield Line(
        at=entry.at,
        kind=LineKind.ENTRY,
        code=entry.kind,
        words=f"{entry.get_kind_display()} {amount}",
        detail=" · ".join(filter(None, [balance, note_as_seen(entry.reason)])),
        who=_name(entry.actor),
        row=entry,
    )


def _payment(payment: Payment) -> Iterator[Line]:
    drawer = payment.sold_in.drawer.name if payment.sold_in else ""
    name = name_of(payment.debt.account) if payment.debt else ""
    yield Line(
        at=payment.at,
        kind=LineKind.DRAWER,
        code="payment",
        words=f"{_('Payment')} {rupiah(payment.amount)}",
        detail=" · ".join(filter(None, [payment.method_words, payment.reference, drawer, name])),
        who=_name(payment.seller),
        url=reverse("shift_detail", args=[payment.sold_in_id]) if payment.sold_in_id else "",
        row=payment,
    )
    if payment.given_at:
        yield Line(
            at=payment.given_at,
            kind=LineKind.DRAWER,
            code="given_back",
            words=_("Given back to the customer"),
            detail=" · ".join(filter(None, [payment.given_words, note_as_seen(payment.given_note)])),
            who=_name(payment.given_by),
            row=payment,
        )


def _drawer_entry(entry: DrawerEntry) -> Iterator[Line]:
    facts = [entry.method_words, entry.shift.drawer.name, note_as_seen(entry.reason)]
    yield Line(
        at=entry.at,
        kind=LineKind.DRAWER,
        code=f"drawer_{entry.kind}",
        words=f"{entry.get_kind_display()} {signed_rupiah(entry.amount)}",
        detail=" · ".join(filter(None, facts)),
        who=_name(entry.person),
        url=reverse("shift_detail", args=[entry.shift_id]),
        row=entry,
    )


def _opening(opening: DrawerOpening) -> Iterator[Line]:
    yield Line(
        at=opening.asked_at,
        kind=LineKind.DRAWER,
        code="cash_drawer_opened",
        words=opening_words(opening),
        detail=opening.till.name,
        row=opening,
    )


def _credit_entry(entry: CreditEntry) -> Iterator[Line]:
    words = f"{entry.get_kind_display()} {signed_rupiah(entry.amount)}"
    is_undoing = entry.undoes_id is not None and entry.kind == CreditEntry.Kind.SALE
    due = _("due %(day)s") % {"day": day_words(entry.due_on)} if entry.due_on else ""
    owed = _("then owed %(amount)s") % {"amount": rupiah(entry.balance_after)}
    facts = [name_of(entry.account), entry.method_words, due, owed, note_as_seen(entry.reason)]
    customer = entry.account.customer_id
    yield Line(
        at=entry.at,
        kind=LineKind.CREDIT,
        code=f"credit_{entry.kind}{'_undone' if is_undoing else ''}",
        words=f"{words} ({_('undone')})" if is_undoing else words,
        detail=" · ".join(filter(None, facts)),
        who=_name(entry.person),
        url=reverse("credit_account", args=[customer]) if customer else "",
        row=entry,
    )


def _inquiry(inquiry: Inquiry) -> Iterator[Line]:
    yield Line(
        at=inquiry.asked_at,
        kind=LineKind.INQUIRY,
        code=inquiry.answer,
        words=inquiry.words,
        who=_name(inquiry.asked_by),
        row=inquiry,
    )


def _incident(incident: Incident) -> Iterator[Line]:
    yield Line(
        at=incident.at,
        kind=LineKind.INCIDENT,
        code=incident.kind,
        words=incident.get_kind_display(),
        detail=incident_words(incident.detail),
        who=incident.get_source_display(),
        row=incident,
    )
    if incident.closed_at:
        yield Line(
            at=incident.closed_at,
            kind=LineKind.INCIDENT,
            code="closed",
            words=_("Incident closed."),
            detail=note_as_seen(incident.closing_note),
            who=_name(incident.closed_by),
            row=incident,
        )


def _verdict(verdict: Verdict) -> Iterator[Line]:
    outcome = verdict.get_outcome_display()
    yield Line(
        at=verdict.proposed_at,
        kind=LineKind.VERDICT,
        code="proposed",
        words=_("Proposed: %(outcome)s") % {"outcome": outcome},
        detail=note_as_seen(f"{verdict.evidence} · {verdict.reason}"),
        who=_name(verdict.proposed_by),
        row=verdict,
    )
    if verdict.decided_at:
        is_approved = verdict.approved_by is not None
        words = _("Approved: %(outcome)s") if is_approved else _("Declined: %(outcome)s")
        yield Line(
            at=verdict.decided_at,
            kind=LineKind.VERDICT,
            code="approved" if is_approved else "declined",
            words=words % {"outcome": outcome},
            who=_name(verdict.approved_by or verdict.declined_by),
            row=verdict,
        )


def _approval(approval: Approval) -> Iterator[Line]:
    asked = Line(
        at=approval.asked_at,
        kind=LineKind.APPROVAL,
        code="asked",
        words=_("Approval requested"),
        detail=note_as_seen(approval.reason),
        who=_name(approval.asked_by),
        url=approval.get_absolute_url(),
        row=approval,
    )
    yield asked
    if approval.decided_at:
        yield replace(
            asked,
            at=approval.decided_at,
            code=approval.state,
            words=str(ApprovalState(approval.state).label),
            detail=note_as_seen(approval.decision_reason),
            who=_name(approval.decided_by),
        )


def _print(printed: ReceiptPrint) -> Iterator[Line]:
    words = _("Copy %(n)s of the receipt printed") if printed.is_copy else _("Receipt printed")
    yield Line(
        at=printed.at,
        kind=LineKind.RECEIPT,
        code=f"print_{printed.number}",
        words=words % {"n": printed.number - 1} if printed.is_copy else words,
        detail=printed.get_paper_display(),
        who=_name(printed.printed_by),
        row=printed,
    )


def _difference(difference: Difference) -> Iterator[Line]:
    url = reverse("difference_detail", args=[difference.pk])
    words = f"{difference.get_label_display()} {signed_rupiah(difference.amount)}"
    yield Line(at=difference.found_at, kind=LineKind.DIFFERENCE, code="found", words=words, url=url, row=difference)
    if difference.acknowledged_at:
        yield Line(
            at=difference.acknowledged_at,
            kind=LineKind.DIFFERENCE,
            code="acknowledged",
            words=difference.get_state_display() + f": {words}",
            detail=note_as_seen(difference.note),
            who=_name(difference.acknowledged_by) or _("by itself"),
            url=url,
            row=difference,
        )


def _audit(event: AuditEvent) -> Iterator[Line]:
    yield Line(
        at=event.at,
        kind=LineKind.AUDIT,
        code=event.kind,
        words=event_label(event.kind),
        detail=_paid_by(event) or event.role,
        who=_name(event.person),
        address=event.address,
        row=event,
    )


def _paid_by(event: AuditEvent) -> str:
    """For a corrected payment: how the customer paid before and now. The payment's line has only the present."""
    before, after = event.before or {}, event.after or {}
    return change_words("paid_by", before["paid_by"], after["paid_by"]) if "paid_by" in before and after else ""


def _name(person: Any) -> str:
    return str(person.username) if person else ""


_LINES_OF: dict[type[Model], Callable[[Any], Iterator[Line]]] = {
    OrderEvent: _event,
    Exchange: _exchange,
    Callback: _callback,
    Inquiry: _inquiry,
    Entry: _entry,
    Payment: _payment,
    DrawerEntry: _drawer_entry,
    DrawerOpening: _opening,
    CreditEntry: _credit_entry,
    Incident: _incident,
    Verdict: _verdict,
    Approval: _approval,
    ReceiptPrint: _print,
    Difference: _difference,
    AuditEvent: _audit,
}
