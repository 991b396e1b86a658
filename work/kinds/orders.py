"""Orders that go no further without a person."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import BooleanField, Case, DateTimeField, ExpressionWrapper, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, gettext_lazy as _, npgettext_lazy, pgettext, pgettext_lazy

from core.money import rupiah
from core.rights import Right
from ledger.models import Books
from ledger.services import books
from policies.services import policies
from purchases.models import Order, may_be_charged
from purchases.presenting import shown_destination
from purchases.sent_again import action_words, first_sent, sent_again
from purchases.services.actions import Action, allowed_actions, possible_outcomes, read_for_confirming
from purchases.states import ActionReason, Status
from purchases.what_now import DECIDED_WITHIN
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind


class Orders(WorkKind):
    """Orders whose outcome is unknown for too long, or that need action. With a proposed outcome they are approvals.

    A seller decides about own orders that were certainly not charged. A batch's queued orders wait as one row of their
    batch, for people who see batches.
    """

    code = "order"
    words = _("Orders to look at")
    counted = npgettext_lazy("work", "%(n)s order", "%(n)s orders", "n")
    step = pgettext_lazy("work", "Decide")
    look = ("receipt", "unknown")
    sees = (Right.VIEW_ORDERS,)
    does = (Right.RESOLVE_ORDERS, Right.PROPOSE_VERDICTS, Right.BUY, Right.CHECK_BILLS)
    branch = "payment__branch"
    within = DECIDED_WITHIN

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """Stuck orders without an open verdict."""
        stuck = Order.objects.stuck(lately=moment.lately, verdict_from=moment.verdict_from)
        if "batch" in scope.sees:
            stuck = stuck.exclude(status=Status.QUEUED, batch_row__isnull=False)
        undecided = Order.objects.filter(verdicts__isnull=False, verdicts__decided_at=None)
        stuck = stuck.exclude(pk__in=undecided.values("pk"))
        # As `waits_since`: another sending gives an order that needs action no more time.
        after_topup = When(
            status=Status.NEEDS_ACTION, waits_for_topup=True, then=Coalesce(first_sent(), F("created_at"))
        )
        sale = When(status=Status.NEEDS_ACTION, then=F("created_at"))
        return stuck.annotate(since=Case(after_topup, sale, default=Coalesce(F("sent_at"), F("created_at"))))

    def due(self) -> Any:
        """The time from which people may decide an order that the upstream leaves open; the usual time for others."""
        decided_after = dt.timedelta(minutes=policies().order_verdict_after_minutes)
        decided_from = ExpressionWrapper(F("since") + Value(decided_after), output_field=DateTimeField())
        return Case(When(status__in=[Status.UNKNOWN, Status.PENDING], then=decided_from), default=super().due())

    def for_person(self, moment: Moment, scope: Scope) -> Any:
        """All orders, or those that the seller may cancel or correct."""
        if scope.resolves or self.code not in scope.does:
            return super().for_person(moment, scope)
        own = Q(status=Status.NEEDS_ACTION, placed_by=moment.person) & ~may_be_charged()
        return ExpressionWrapper(own, output_field=BooleanField())

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        current = books()
        shown = Order.objects.for_table().select_related("payment").prefetch_related("verdicts")
        orders = list(shown.filter(pk__in=keys).annotate(again_at=sent_again()))
        read_for_confirming(orders, person)
        return {
            order.pk: Line(
                subject=order.product_name,
                url=order.get_absolute_url(),
                number=shown_destination(order),
                why=_why(order),
                amount=rupiah(order.customer_pays),
                step=_step(order, person, current),
                state=Status(order.status).badge,
                waits=order.status == Status.UNKNOWN and not possible_outcomes(order),
            )
            for order in orders
        }


def _why(order: Order) -> str:
    """The reason why it needs action, in few words; after it was sent again also when that was."""
    is_long = order.action_reason == ActionReason.NEVER_ARRIVED and not order.again_at  # type: ignore[attr-defined]
    return gettext("Never arrived?") if is_long else action_words(order)


def _step(order: Order, person: User, of: Books) -> str:
    """The first act on the order's page, also before a decision about one that never arrived; "" where the decision is
    the first. A bill has steps of its own.
    """
    possible = allowed_actions(order, person, of=of)
    if possible == {Action.CANCEL} and order.kind == Order.Kind.PURCHASE:
        return gettext("Cancel the order…")
    return pgettext("work", "Check") if order.status == Status.NEEDS_ACTION or possible == {Action.POLL} else ""
