"""Starts a verification of the evidence for a person."""

import datetime as dt

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from audit.models import AuditEvent
from audit.services import record
from core import clock
from core.access import StaffRequest, staff_only
from core.publish import publish
from core.rights import Right
from core.times import hour
from workbench.events import VERIFICATION_STARTED

# A verification reads every row, so it is started at most this often.
_ONCE_IN = dt.timedelta(minutes=10)


@staff_only(Right.VIEW_AUDIT)
@require_POST
def audit_verify(request: StaffRequest) -> HttpResponse:
    """Let the workers verify all rows, at most once in ten minutes. No row changes; the list shows the result."""
    earlier = AuditEvent.objects.filter(kind=VERIFICATION_STARTED.key, at__gt=clock.now() - _ONCE_IN).order_by("-at")
    if last := earlier.first():
        words = _("A verification was started at %(time)s. Its result comes onto this page.")
        messages.info(request, words % {"time": hour(last.at)}, extra_tags="verified_lately")
    elif publish("audit.tasks.verify_all"):
        record(VERIFICATION_STARTED, actor=request.user)
        words = _("All rows are being verified. The result comes onto this page; load it again in a minute.")
        messages.success(request, words, extra_tags="verification_started")
    else:
        words = _("The workers cannot be reached: nothing was started. Try again in a minute.")
        messages.error(request, words, extra_tags="workers_away")
    return redirect("audit_list")
