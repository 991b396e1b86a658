"""Accounts in words: the delay of a debt, and the text that reminds a customer."""

import datetime as dt
from dataclasses import dataclass

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, ngettext

from core.customer_texts import one_line, plain_lines, whatsapp_link
from core.looks import badge
from core.money import rupiah
from credit.models import CreditAccount
from credit.services import Age, Debt, OffAccount, debts_and_unfulfilled, name_of
from customers.models import SavedNumber
from shop.models import Shop


def age_badge(account: CreditAccount) -> SafeString:
    """The badge for the delay of an account's oldest debt; empty without a debt."""
    if account.oldest_due is None:
        return SafeString()
    return late_badge(account.oldest_due) or badge(("clock", "queued"), Age.NOT_DUE.label)


def late_badge(due_on: dt.date) -> SafeString:
    """The badge for the delay of a debt that is due on this day; empty before that day."""
    if due_on == timezone.localdate():
        return badge(("alert-triangle", "held"), _("Due today"))
    days = (timezone.localdate() - due_on).days
    if days < 0:
        return SafeString()
    return badge(("alert-triangle", "bad"), ngettext("%(n)s day late", "%(n)s days late", days) % {"n": days})


@dataclass(frozen=True)
class Owed:
    """The debts of an account: the `first` unpaid ones, oldest due first, and the number of `more`.

    `since`: the beginning of the oldest unpaid debt. `unfulfilled`: the debts whose orders did not go through.
    """

    first: list[Debt]
    more: int
    since: dt.datetime
    unfulfilled: set[str]


def owed_of(account: CreditAccount, most: int = 5) -> Owed | None:
    """The debts of this account; None without a debt."""
    if account.balance <= 0:
        return None
    debts, unfulfilled = debts_and_unfulfilled(account)
    return Owed(debts[:most], len(debts[most:]), min(debt.since for debt in debts), unfulfilled)


def off_account_words(off: OffAccount, *, is_done: bool) -> str:
    """The sentence for the customer when a price comes, or has come, off the account; in the active language."""
    facts = {"amount": rupiah(off.amount), "kept": rupiah(off.kept)}
    if not is_done:
        if off.code == "less":
            words = _("There is nothing to pay for it: %(amount)s will be taken off what you owe us.")
        else:
            words = _(
                "%(amount)s will be taken off your account. You then owe us nothing, and %(kept)s stays there for your"
                " next purchase."
            )
    elif off.code == "less":
        words = _("We have taken %(amount)s off what you owe us.")
    elif off.code == "part":
        words = _("We have taken %(amount)s off your account: %(kept)s stays there for your next purchase.")
    else:
        words = _("We have put %(amount)s on your account, for your next purchase.")
    return words % facts


def reminder_text(account: CreditAccount, debts: list[Debt], shop: Shop) -> str:
    """The text for the customer about these debts, oldest due first: plain text.

    It asks for what is overdue, or else for what is due first, and names the rest with its days. It is in the shop's
    language, or in the signed-in person's.
    """
    today = timezone.localdate()
    first_due = max(debts[0].due_on, today - dt.timedelta(days=1))
    asked = [debt for debt in debts if debt.due_on <= first_due]
    later = debts[len(asked) :]
    facts = {
        "name": one_line(name_of(account)),
        "shop": shop.name,
        "owed": _open_sum(debts),
        "asked": _open_sum(asked),
        "asked_by": first_due if first_due >= today else None,
        "later": _open_sum(later),
        "later_from": later[0].due_on if later else None,
        "later_until": later[-1].due_on if later else None,
        "is_sandbox": settings.SANDBOX,
    }
    with translation.override(shop.language or translation.get_language()):
        written = render_to_string("credit/reminder.txt", facts)
    return plain_lines(written)


def _open_sum(debts: list[Debt]) -> int:
    """Rupiah."""
    return sum(debt.open for debt in debts)


def whatsapp_to(account: CreditAccount, text: str) -> str:
    """The address that opens WhatsApp with the text: to a phone number of the customer, if one is saved."""
    phones = SavedNumber.objects.phones().filter(customer=account.customer_id)
    number = phones.order_by("pk").values_list("destination", flat=True).first()
    return whatsapp_link(text, phone=number or "")
