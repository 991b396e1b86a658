"""Shows approvals in the activity log: requests and decisions."""

from collections.abc import Iterable

from django.utils.translation import gettext, pgettext_lazy

from approvals.acts import act_named
from approvals.models import Approval, ApprovalState
from audit.acts import STEPS
from audit.facts import Fact, choice_of, name_facts
from audit.subjects import Rows, Subject, register
from core.numbers import numbers_in
from core.rights import Right


def _act_words(code: str) -> str:
    """The words of an act of approval, or of a step that a second factor confirms."""
    is_approved, name = code.startswith("approve:"), code.removeprefix("approve:")
    if act := act_named(name) if is_approved or name not in STEPS else None:
        return gettext("Approve: %(act)s") % {"act": act.label} if is_approved else str(act.label)
    return str(STEPS[name].words) if name in STEPS else name


name_facts(
    act=Fact(pgettext_lazy("audit", "Step"), _act_words),
    asked_by=Fact(pgettext_lazy("audit", "Asked by person no."), of="person"),
    changes=Fact(pgettext_lazy("audit", "What has changed")),
    content=Fact(pgettext_lazy("audit", "Content")),
    result=Fact(pgettext_lazy("audit", "Result")),
    sha256=Fact(pgettext_lazy("audit", "SHA-256")),
    state=Fact(pgettext_lazy("audit", "State"), choice_of(ApprovalState)),
    subject=Fact(pgettext_lazy("audit", "About")),
)


class _Approvals(Subject):
    """Approvals by number; the rows are those of erased customers, whose events show no full number."""

    def rows(self, keys: set[str]) -> Iterable[Approval]:
        return Approval.objects.filter(pk__in=keys, number_erased=True)

    def numbers(self, key: str, rows: Rows) -> set[str]:
        return numbers_in(rows[key].facts) if key in rows else set()


register(
    _Approvals("approval", pgettext_lazy("audit", "Approval no. %(number)s"), "approval_detail", Right.VIEW_APPROVALS)
)
