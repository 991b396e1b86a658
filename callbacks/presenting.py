"""Callbacks as the pages show them."""

import json

from django.utils.translation import gettext as _

from callbacks.models import Callback, CallbackState
from core.numbers import longest_first, note_as_seen, numbers_in, text_as_seen
from purchases.models import Order
from purchases.states import Status


def result_words(callback: Callback) -> str:
    """The words for its result, which the pages show beside its state."""
    if callback.fault:
        return _("Our own code failed on it (%(fault)s). Tried %(n)s times, and again by itself.") % {
            "fault": note_as_seen(callback.fault),
            "n": callback.tries,
        }
    statuses = [Status(part).label for part in callback.result.split(" → ") if part in Status.values]
    if statuses:
        return " → ".join(str(label) for label in statuses)
    if callback.state == CallbackState.MALFORMED:
        return _("not as agreed: %(fields)s") % {"fields": callback.result}
    return callback.result


def body_of(callback: Callback, order: Order | None) -> tuple[str, str]:
    """The body as text, and formatted for reading, with numbers as the viewer may see them; `order`: the one it names.

    The second text is "" when the body is not JSON, or is formatted already.
    """
    raw = bytes(callback.body).decode("utf-8", errors="backslashreplace")
    try:
        content = json.loads(raw)
        pretty = json.dumps(content, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        content, pretty = None, ""
    # Of equal numbers the first one counts: the order's own, which may be masked for everybody.
    numbers = {*((order.destination,) if order else ()), *numbers_in(content), *numbers_in(raw)}
    formatted = pretty if pretty != raw else ""
    in_order = longest_first(numbers)
    return text_as_seen(raw, *in_order), text_as_seen(formatted, *in_order)
