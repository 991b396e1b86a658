"""Customers' debts by age, and the entries of one account, as lists and as files."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _

from core.money import rupiah, signed_rupiah
from core.numbers import note_as_seen
from core.rights import Right
from core.tables import Table, cell_from, column, row_link
from core.times import day_words, moment
from credit.models import CreditAccount, CreditEntry
from credit.presenting import age_badge
from credit.services import Age, aged, name_of, not_to_ask_for
from staff.models import User


class AgeingTable(Table[CreditAccount]):
    """Accounts with a debt, with their customers."""

    caption = _("Customers who owe money, the oldest debt first")

    def __init__(self, accounts: Iterable[CreditAccount]) -> None:
        super().__init__(accounts)
        keys = [account.pk for account in self.rows]
        self.aged = aged(keys)
        self.not_to_ask = not_to_ask_for(keys)
        if not self.not_to_ask:
            self.columns = [column for column in self.columns if column.name != "not_asked"]

    def _of(self, account: CreditAccount, age: Age) -> str:
        amount = self.aged[account.pk][age]
        return rupiah(amount) if amount else "–"

    @column(_("Customer"), phone="1 left")
    def customer(self, account: CreditAccount) -> SafeString:
        """The customer's name; leads to the account."""
        if account.customer_id is None:
            return format_html("{}", name_of(account))
        return row_link(reverse("credit_account", args=[account.customer_id]), name_of(account))

    @column(_("Age"), phone="2 left")
    def age(self, account: CreditAccount) -> SafeString:
        return age_badge(account)

    @column(_("Due"), css="sub nowrap", phone="2 right")
    def due(self, account: CreditAccount) -> str:
        return day_words(account.oldest_due)

    @column(_("Not due"), css="num", phone="none")
    def not_due(self, account: CreditAccount) -> str:
        """Rupiah that are not due yet."""
        return self._of(account, Age.NOT_DUE)

    @column(_("1–7 days"), css="num", phone="none")
    def week(self, account: CreditAccount) -> str:
        """Rupiah due for up to a week."""
        return self._of(account, Age.WEEK)

    @column(_("8–30 days"), css="num", phone="none")
    def month(self, account: CreditAccount) -> str:
        """Rupiah due for up to 30 days."""
        return self._of(account, Age.MONTH)

    @column(_("Over 30 days"), css="num", phone="none")
    def older(self, account: CreditAccount) -> str:
        """Rupiah due for longer."""
        return self._of(account, Age.OLDER)

    @column(_("Owed"), css="num strong", phone="1 right")
    def owed(self, account: CreditAccount) -> str:
        """Rupiah in all."""
        return rupiah(account.balance)

    @column(_("Not to be asked for"), css="num", phone="3 wide")
    def not_asked(self, account: CreditAccount) -> SafeString | str:
        """Rupiah of the debts for orders that did not go through; empty without such debts."""
        amount = self.not_to_ask.get(account.pk)
        return cell_from("credit/not_to_ask.html", amount=amount) if amount else ""


class CreditEntryTable(Table[CreditEntry]):
    """The entries of one account, with their people, as `user` may see them."""

    caption = _("Entries, newest first")

    def __init__(
        self,
        entries: Iterable[CreditEntry],
        *,
        user: User,
        undoable: Collection[int],
        unfulfilled: Collection[str],
    ) -> None:
        super().__init__(entries)
        self.user, self.undoable, self.unfulfilled = user, undoable, unfulfilled

    @column(_("When"), css="sub", phone="1 right")
    def time(self, entry: CreditEntry) -> SafeString:
        return moment(entry.at)

    @column(_("What"), phone="1 left")
    def what(self, entry: CreditEntry) -> SafeString:
        """Its kind, with a link to its order if it has one; an undone entry is struck through."""
        words: object = entry.get_kind_display()
        if entry.ref_id and self.user.has_perm(Right.VIEW_ORDERS):
            words = row_link(reverse("order_detail", args=[entry.ref_id]), words)
        if entry.undoes_id and entry.kind not in {CreditEntry.Kind.REFUND, CreditEntry.Kind.MOVED}:
            return format_html('{} <span class="sub" data-undoes>{}</span>', words, gettext("undone"))
        if hasattr(entry, "undone_by"):
            return format_html("<s>{}</s>", words)
        return format_html("{}", words)

    @column(_("Note"), phone="3 wide")
    def note(self, entry: CreditEntry) -> SafeString:
        """The way to pay, the reason, the order, and the due date."""
        parts = [entry.method_words, note_as_seen(entry.reason), entry.ref_id]
        if entry.due_on:
            parts.append(gettext("due %(day)s") % {"day": day_words(entry.due_on)})
        words = " · ".join(part for part in parts if part)
        if entry.due_on and entry.ref_id in self.unfulfilled and not hasattr(entry, "undone_by"):
            may_see = self.user.has_perm(Right.VIEW_ORDERS)
            url = reverse("order_detail", args=[entry.ref_id]) if may_see else ""
            return format_html('<span class="sub">{}</span> {}', words, cell_from("credit/unfulfilled.html", url=url))
        links = []
        if entry.kind == CreditEntry.Kind.PAYMENT and not entry.undoes_id and self.user.has_perm(Right.USE_CREDIT):
            links.append((reverse("credit_receipt", args=[entry.pk]), gettext("Receipt")))
        if entry.pk in self.undoable:
            links.append((reverse("credit_undo", args=[entry.pk]), gettext("Undo…")))
        shown = format_html_join(" ", '<a href="{}">{}</a>', links)
        return format_html('<span class="sub">{}</span> {}', words, shown)

    @column(_("Who"), css="sub", phone="none")
    def who(self, entry: CreditEntry) -> str:
        return entry.person.shown_name

    @column(_("Amount"), css="num", phone="2 left")
    def amount(self, entry: CreditEntry) -> SafeString:
        """Rupiah, with the sign: above zero the debt grows."""
        return _labelled(gettext("Amount"), signed_rupiah(entry.amount))

    @column(_("Owed"), css="num", phone="2 right")
    def after(self, entry: CreditEntry) -> SafeString:
        """Rupiah that are owed after this entry."""
        return _labelled(gettext("Owed"), rupiah(entry.balance_after))


def _labelled(label: str, amount: str) -> SafeString:
    """The amount with its label, for a card on a phone, which has no headings."""
    return format_html('<span class="phone-label">{} </span>{}', label, amount)


def file_fields(
    sums: Mapping[int, Mapping[str, int]], not_to_ask: Mapping[int, int]
) -> dict[str, Callable[[CreditAccount], object]]:
    """The columns of a file of the ageing list, by account; rupiah."""
    return {
        "customer": name_of,
        "due_since": lambda account: account.oldest_due.isoformat() if account.oldest_due else "",
        **{age.value: partial(_of_age, sums, age) for age in Age},
        "owed": lambda account: account.balance,
        "cap": lambda account: account.cap,
        "not_to_ask": lambda account: not_to_ask.get(account.pk, 0),
    }


def _of_age(sums: Mapping[int, Mapping[str, int]], age: Age, account: CreditAccount) -> int:
    return sums[account.pk][age]
