"""The page "Health": the state of the installation, and what to do, as `./run doctor` says it on the terminal."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from alerts.services.ways import ways
from backoffice.doctor import examine
from backoffice.findings import Verdict
from backoffice.health_words import PLAIN
from core.access import StaffRequest, may_open, staff_only
from core.rights import Right

# Where to look further: the name of an address, and its words.
_FURTHER = {
    "callbacks": ("callback_list", _("Callbacks")),
    "books": ("balance", _("Balance")),
    "restored": ("backups", _("Backups")),
    "alert ways": ("alert_ways", _("Ways of alerts")),
}
# What needs attention stands on top: the other verdicts have rank 0.
_RANKS = {Verdict.PROVISIONAL: 1, Verdict.OK: 2}


@staff_only(Right.CHANGE_POLICIES)
@require_GET
def health_page(request: StaffRequest) -> HttpResponse:
    """Show each subject with its verdict and next step; the page sends the provider nothing."""
    findings = sorted(examine(is_page=True), key=lambda finding: _RANKS.get(finding.verdict, 0))
    rows = []
    for finding in findings:
        address, words = _FURTHER.get(finding.subject, ("", ""))
        is_open = bool(address) and may_open(request.user, reverse(address))
        further = {"address": address, "words": words} if is_open else None
        rows.append({"finding": finding, "plain": PLAIN[finding.subject], "further": further})
    counts = [(verdict, sum(finding.verdict == verdict for finding in findings)) for verdict in Verdict]
    may_test = request.user.has_perm(Right.VIEW_ALERTS)
    context = {"rows": rows, "counts": counts, "good": Verdict.OK, "tested": ways() if may_test else []}
    return render(request, "backoffice/health.html", context)
