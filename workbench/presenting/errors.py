"""Groups of errors in words, with their trend as a small drawing."""

from urllib.parse import urlencode

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, ngettext

from callbacks.models import CallbackState, RefusalReason
from purchases.models import Incident
from workbench.presenting.exchanges import detail_of, endpoint_words, error_words, result_of
from workbench.services.errors import HOURS, MOST_COUNTED, Group

_WIDTH, _HEIGHT = 4, 20


def count_words(count: int) -> str:
    """The count in words, up to the bound."""
    if count > MOST_COUNTED:
        return _("over %(n)s") % {"n": number_format(MOST_COUNTED, force_grouping=True)}
    return number_format(count, force_grouping=True)


def about_words(group: Group) -> str:
    """The source of the errors: a request of ours, or a callback."""
    match group.about:
        case "callback":
            return _("Callback")
        case "incident":
            return _("Callback against what was known")
        case "refusal":
            return _("Rejected before processing")
    return endpoint_words(group.about)


def error_cell(group: Group) -> SafeString:
    """The code of the error, and its meaning."""
    match group.about:
        case "callback" if group.error == "fault":
            return format_html("{}", _("our own code failed on it"))
        case "callback":
            return CallbackState(group.error).badge
        case "incident":
            return format_html("{}", Incident.Kind(group.error).label)
        case "refusal":
            return format_html("{}", RefusalReason(group.error).label)
    words = error_words(group.error) or result_of(group.error).label
    return format_html('<span class="mono">{}</span><div class="sub">{}</div>', detail_of(group.error), words)


def last_url(group: Group) -> str:
    """The address of the newest example; "" if none is kept."""
    match group.about:
        case "callback":
            return reverse("callback_detail", args=[group.last_pk])
        case "incident":
            return reverse("order_detail", args=[group.last_pk])
        case "refusal":
            return ""
    return reverse("exchange_detail", args=[group.last_pk])


def list_url(group: Group) -> str:
    """The address of the list of the whole group; "" where there is none."""
    match group.about:
        case "callback":
            state = CallbackState.RECEIVED if group.error == "fault" else group.error
            return f"{reverse('callback_list')}?{urlencode({'state': str(state)})}"
        case "incident":
            return ""
        case "refusal":
            return reverse("callback_list")
    return f"{reverse('exchange_list')}?{urlencode({'endpoint': group.about, 'error': group.error})}"


def trend_drawing(trend: list[int]) -> SafeString:
    """A bar for each hour, oldest first, with the sum in words."""
    if not trend:
        return format_html("{}", "–")
    total, most = sum(trend), max(*trend, 1)
    bars = (
        (index * _WIDTH, _HEIGHT - height, _WIDTH - 1, height)
        for index, n in enumerate(trend)
        if n and (height := max(2, round(n / most * _HEIGHT)))
    )
    words = ngettext("%(n)s in 24 hours", "%(n)s in 24 hours", total) % {"n": number_format(total, force_grouping=True)}
    return format_html(
        '<svg class="trend" viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true"><path d="M0 {}h{}"/>{}</svg>'
        '<div class="sub nowrap">{}</div>',
        HOURS * _WIDTH,
        _HEIGHT + 1,
        HOURS * _WIDTH,
        _HEIGHT + 1,
        _HEIGHT + 0.5,
        HOURS * _WIDTH,
        format_html_join("", '<rect x="{}" y="{}" width="{}" height="{}"/>', bars),
        words,
    )
