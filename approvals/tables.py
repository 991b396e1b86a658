"""Approvals as a list."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _, pgettext_lazy

from approvals.models import Approval
from approvals.presenting import ShownApproval
from core.tables import Table, column, row_link
from core.times import ago, moment
from staff.models import User

# With less time left than this, the list marks it as short.
_SOON = dt.timedelta(minutes=30)


class ApprovalTable(Table[Approval]):
    """Approvals `for_table()`, as `person` sees them at `now`."""

    caption = _("Approvals, open ones first")

    def __init__(
        self,
        approvals: Iterable[Approval],
        *,
        person: User,
        now: dt.datetime,
        found: Mapping[int, Mapping[str, Any]] | None = None,
    ) -> None:
        """`found`: the changes that would make open approvals void now (`services.changes_seen`)."""
        super().__init__(approvals)
        self.person, self.now, self.found = person, now, found or {}

    def _shown(self, approval: Approval) -> ShownApproval:
        return ShownApproval(approval, self.person, self.found.get(approval.pk, {}))

    @column(_("State"), phone="1 left")
    def state(self, approval: Approval) -> SafeString:
        return self._shown(approval).badge

    @column(_("What"), phone="2 wide")
    def what(self, approval: Approval) -> SafeString:
        """The request, and why it is void by now; links to its page."""
        shown = self._shown(approval)
        link = row_link(approval.get_absolute_url(), shown.label)
        void = format_html('<div data-code="{}">{}</div>', shown.void_code, shown.why_void) if shown.is_void_now else ""
        return format_html('{}<div class="sub">{}</div>{}', link, shown.about, void)

    @column(_("Amount"), css="num", phone="3 left")
    def amount(self, approval: Approval) -> str:
        """Rupiah that it moves."""
        return ShownApproval(approval, self.person).shown_amount

    @column(_("Asked by"), phone="4 left")
    def asker(self, approval: Approval) -> SafeString:
        """The asker, with the person's role at that time."""
        shown = ShownApproval(approval, self.person)
        name = gettext("You") if shown.is_own else approval.asked_by.shown_name
        return format_html('{} <span class="sub">{}</span>', name, shown.asked_role)

    @column(pgettext_lazy("approval", "Decided or expires"), css="sub", phone="4 right")
    def end(self, approval: Approval) -> SafeString:
        """Until when it needs an answer, and can be approved; after the decision, the person who decided, and when."""
        if approval.is_open:
            css = "is-short" if approval.expires_at - self.now < _SOON else ""
            expires = format_html('<span class="{}">{} {}</span>', css, gettext("expires"), ago(approval.expires_at))
            words = ShownApproval(approval, self.person).answer_words
            if not words:
                return expires
            return format_html('<span class="is-short" data-answer-by>{}</span> · {}', words, expires)
        who = approval.decided_by.shown_name if approval.decided_by else ""
        return format_html("{} {}", who, moment(approval.decided_at))

    @column(_("Asked"), css="sub", phone="1 right")
    def time(self, approval: Approval) -> SafeString:
        return moment(approval.asked_at)
