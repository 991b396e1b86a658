"""Requests that wait for a second person."""

from collections.abc import Collection
from typing import Any

from django.db.models import BooleanField, Case, DateTimeField, ExpressionWrapper, F, Q, QuerySet, Value, When
from django.db.models.functions import Least
from django.utils.translation import gettext, gettext_lazy as _, npgettext_lazy, pgettext_lazy

from approvals.acts import CUSTOMER_WAITS, act_named, acts_approved_by, acts_that_keep_a_customer
from approvals.models import Approval
from approvals.presenting import ShownApproval
from approvals.services import changes_seen, in_branch, names_of_approvers, refused_to, sees_queue
from core.looks import badge
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind


class Approvals(WorkKind):
    """Open approvals; the person's own requests wait for somebody else."""

    code = "approval"
    words = _("Approvals")
    one = _("Approval")
    counted = npgettext_lazy("work", "%(n)s approval", "%(n)s approvals", "n")
    step = pgettext_lazy("work", "Decide")
    look = ("checks", "queued")
    sees = ()
    does = ()
    branch = "branch"
    within = CUSTOMER_WAITS
    every = ("approval_list", "")

    def may_see(self, person: User) -> bool:
        return sees_queue(person)

    def may_do(self, person: User) -> bool:
        """Whether there is any act that this person may approve."""
        return bool(acts_approved_by(person))

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """The open approvals that this person may see."""
        waiting = Approval.objects.open().annotate(since=F("asked_at"))
        if scope.branch is not None:
            waiting = waiting.filter(in_branch(scope.branch, person=moment.person, acts=scope.acts + scope.asks))
        own_or_to_decide = Q(asked_by=moment.person) | Q(act__in=scope.acts)
        return waiting if scope.sees_all else waiting.filter(own_or_to_decide)

    def due(self) -> Any:
        """Some minutes after the request if a customer may wait in the shop, else the time of its expiry."""
        soon = ExpressionWrapper(F("since") + Value(self.within), output_field=DateTimeField())
        waiting = When(act__in=acts_that_keep_a_customer(), then=Least(soon, F("expires_at")))
        return Case(waiting, default=F("expires_at"))

    def for_person(self, moment: Moment, scope: Scope) -> Any:
        """Requests of other people that this person may approve."""
        if not scope.acts:
            return super().for_person(moment, scope)
        to_decide = Q(act__in=scope.acts) & ~Q(asked_by=moment.person)
        return ExpressionWrapper(to_decide, output_field=BooleanField())

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        """The request; one that is void now, or that another person must approve, can only be refused.

        A sale has only its product as its name; it is red, because a customer may wait in the shop.
        """
        lines, approvals = {}, list(Approval.objects.for_table().filter(pk__in=keys))
        changes, refused = changes_seen(approvals), refused_to(approvals, person)
        acts = acts_approved_by(person)
        names = names_of_approvers([each for each in approvals if each.is_of(person) or each.act not in acts])
        for approval in approvals:
            shown = ShownApproval(approval, person, changes.get(approval.pk, {}))
            act = act_named(approval.act)
            waits = bool(act and act.keeps_customer)
            product, _arrow, number = shown.about.partition(" → ")
            subject, about = (product, "") if waits else (str(shown.label), shown.about)
            other = gettext("another person has to approve it") if approval.pk in refused else ""
            lines[approval.pk] = Line(
                subject=subject,
                url=approval.get_absolute_url(),
                about=" · ".join(filter(None, (about, other))),
                number=number if waits else "",
                amount=shown.shown_amount,
                step=gettext("Refuse") if shown.is_void_now or approval.pk in refused else "",
                doers=", ".join(names.get(approval.pk, ())),
                urgent=gettext("Customer waits") if waits else "",
                state=badge((self.look[0], "bad"), self.one) if waits else "",
            )
        return lines
