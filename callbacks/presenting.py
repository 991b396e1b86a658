"""Callbacks as the pages show them."""

from __future__ import annotations

import json

from django.utils.translation import gettext as _

from callbacks.models import Callback, CallbackState
from purchases.states import Status


def result_words(callback: Callback) -> str:
    """What came of it, beside its state."""
    if callback.fault:
        return _("Our own code failed on it (%(fault)s). Tried %(n)s times, and again by itself.") % {
            "fault": callback.fault,
            "n": callback.tries,
        }
    statuses = [Status(part).label for part in callback.result.split(" → ") if part in Status.values]
    if statuses:
        return " → ".join(str(label) for label in statuses)
    if callback.state == CallbackState.MALFORMED:
        return _("not as agreed: %(fields)s") % {"fields": callback.result}
    return callback.result


def raw_body(callback: Callback) -> str:
    """The bytes as text, whatever they are; the template escapes it."""
    return bytes(callback.body).decode("utf-8", errors="backslashreplace")


def formatted_body(callback: Callback) -> str:
    """The body formatted for reading; empty when it is not JSON, or is formatted already."""
    raw = raw_body(callback)
    try:
        pretty = json.dumps(json.loads(raw), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""
    return pretty if pretty != raw else ""
