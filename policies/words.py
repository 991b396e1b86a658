"""The name and the effect of each policy, for the page, the second person and the activity log."""

from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _, ngettext, pgettext_lazy

from core.money import rupiah


class Words(NamedTuple):
    """`unit`: "rupiah", "minutes", "hours", "days", "time" or "switch"."""

    label: Promise
    hint: Promise
    unit: str


# In the order of the page: the title of a part, and its policies by column.
PARTS: tuple[tuple[Promise, dict[str, Words]], ...] = (
    (
        _("Selling and drawers"),
        {
            "pin_order_limit": Words(
                _("Limit per order by PIN"),
                _(
                    "The most that the provider may charge for one order by PIN, at a till that has no limit of its "
                    "own. It counts the cost, not the selling price."
                ),
                "rupiah",
            ),
            "seller_rise_limit": Words(
                _("A seller confirms a rise up to"),
                _(
                    "When the provider's price rises before an own order is charged. The customer pays the same, the "
                    "profit is less, and it never sells below cost. 0: nobody. What is sold at cost has no limit: the "
                    "customer pays the rise."
                ),
                "rupiah",
            ),
            "drawer_difference_limit": Words(
                _("Drawer difference"),
                _("A drawer that is closed with a larger difference is an alert, and stands in the activity log."),
                "rupiah",
            ),
            "blind_count": Words(
                _("Blind count"),
                _("The cash that should be in a drawer is shown only after it is counted. The difference shows then."),
                "switch",
            ),
            "opens_at": Words(
                _("Cashiers sell from"),
                _("Outside of these hours only people who may approve orders sell, and what they approve is sold."),
                "time",
            ),
            "closes_at": Words(_("Cashiers sell until"), _("Leave both empty to sell at any time."), "time"),
            "complaint_due_hours": Words(
                _("Complaints are due after"), _("Counted from a step that names no other time."), "hours"
            ),
        },
    ),
    (
        _("Second person"),
        {
            "approval_valid_hours": Words(
                _("An approval waits for"), _("Then the request expires, and nothing happens."), "hours"
            ),
            "approval_alert_minutes": Words(
                _("Alert when it waits longer than"), _("The people who may approve it are told."), "minutes"
            ),
            "order_verdict_after_minutes": Words(
                _("Unknown orders may be decided after"),
                _("At the latest; at once when the provider does not know the order."),
                "minutes",
            ),
        },
    ),
    (
        _("Signing in"),
        {
            "session_idle_minutes": Words(_("Sign out after"), _("When somebody does nothing for so long."), "minutes"),
            "pin_idle_minutes": Words(
                _("Lock a till after"), _("When nobody does anything there after signing in by PIN."), "minutes"
            ),
        },
    ),
    (
        pgettext_lazy("part of the policies", "Alerts"),
        {
            "alert_low_balance": Words(_("Low balance below"), _("0: no alert by amount."), "rupiah"),
            "alert_low_balance_hours": Words(
                _("Low balance when it lasts for less than"), _("At the usual spending. 0: no alert by time."), "hours"
            ),
            "quiet_from": Words(
                _("Quiet from"),
                _("Until the end of the quiet hours only critical alerts are sent; others wait."),
                "time",
            ),
            "quiet_to": Words(_("Quiet until"), _("Leave both empty for none."), "time"),
        },
    ),
    (
        _("Records"),
        {
            "exchanges_kept_days": Words(
                _("Requests to the provider are kept for"), _("At least 90 days: they are the evidence."), "days"
            ),
            "callbacks_kept_days": Words(
                _("Texts of the provider's reports are kept for"),
                _("At least 90 days. Then time, result and checksum stay. Empty: all is kept without end."),
                "days",
            ),
            "batch_texts_kept_days": Words(
                _("What was typed in a batch is kept for"),
                _("From its end. Then its orders stay, without names and notes. Empty: all is kept without end."),
                "days",
            ),
        },
    ),
)
UNITS: dict[str, Promise | str] = {
    "rupiah": "Rp",
    "minutes": pgettext_lazy("unit", "minutes"),
    "hours": pgettext_lazy("unit", "hours"),
    "days": pgettext_lazy("unit", "days"),
    "time": "",
    "switch": "",
}
SWITCH = {False: pgettext_lazy("policy", "off"), True: pgettext_lazy("policy", "on")}
WORDS: dict[str, Words] = {name: words for _title, rows in PARTS for name, words in rows.items()}


def value_in_words(name: str, value: Any) -> str:
    """A policy's value with its unit."""
    if value is None or isinstance(value, bool):
        none = gettext("without end") if WORDS[name].unit == "days" else "–"
        return none if value is None else str(SWITCH[value])
    match WORDS[name].unit:
        case "rupiah":
            return rupiah(value)
        case "minutes":
            return ngettext("%(n)s minute", "%(n)s minutes", value) % {"n": value}
        case "hours":
            return ngettext("%(n)s hour", "%(n)s hours", value) % {"n": value}
        case "days":
            return ngettext("%(n)s day", "%(n)s days", value) % {"n": value}
    return value if isinstance(value, str) else f"{value:%H:%M}"
