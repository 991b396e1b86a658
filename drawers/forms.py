"""Forms about a drawer: a count, an amount, a customer's payment."""

from dataclasses import replace
from typing import Any

from django import forms
from django.db.models import Case, Exists, OuterRef, Q, Subquery, When
from django.utils.translation import gettext, gettext_lazy as _, pgettext_lazy

from branches.forms import WithBranch
from branches.seeing import narrowed
from branches.services import branch_name
from core.errors import Refused
from core.forms import RupiahField, SumForm
from core.money import rupiah
from core.rights import Right
from credit.forms import CreditCustomerField
from credit.methods import CASH, counts_as_cash, find_method, method_choices, money_choices
from credit.models import CreditEntry
from drawers.errors import PaymentUnclear
from drawers.models import DENOMINATIONS, Drawer, Shift, UsualDrawer
from drawers.services import PaymentFacts, free_usual_drawer, set_usual_drawer
from policies.services import policies
from staff.models import User

_MOST_PIECES = 100_000
_LINE = {"class": "form-control", "autocomplete": "off"}


def _name(value: int) -> str:
    return f"pieces_{value}"


class _PiecesField(forms.IntegerField):
    """The number of pieces, only digits: "200.000" is an amount, and would otherwise be read as 200."""

    def to_python(self, value: Any) -> int | None:
        """The number; None for an empty field."""
        if value and not str(value).strip().isdecimal():
            raise forms.ValidationError(_("Type how many pieces there are, digits alone."), code="invalid")
        return super().to_python(value)


class CountForm(forms.Form):
    """The number of each note and coin; an empty field is zero."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for value in DENOMINATIONS:
            # A field of type "number" would change by arrows and by the mouse wheel.
            attrs = {**_LINE, "inputmode": "numeric", "data-value": value, "placeholder": "0"}
            self.fields[_name(value)] = _PiecesField(
                label=rupiah(value), required=False, max_value=_MOST_PIECES, widget=forms.TextInput(attrs)
            )

    def count_rows(self) -> list[tuple[forms.BoundField, int]]:
        """The fields of the count, largest first, each with its sum in rupiah."""
        return [(self[_name(value)], self._made(value)) for value in DENOMINATIONS]

    def _made(self, value: int) -> int:
        typed = str(self[_name(value)].value() or "").strip()
        return value * int(typed) if typed.isdecimal() and len(typed) <= len(str(_MOST_PIECES)) else 0

    @property
    def total(self) -> int:
        """Rupiah of the typed pieces so far."""
        return sum(self._made(value) for value in DENOMINATIONS)

    @property
    def pieces(self) -> list[int]:
        """The count, once the form is valid."""
        return [self.cleaned_data[_name(value)] or 0 for value in DENOMINATIONS]

    def not_entered(self) -> str:
        """The count and the reason in words, for a person whose form came too late."""
        cleaned = self.cleaned_data
        counted = sum(value * (cleaned.get(_name(value)) or 0) for value in DENOMINATIONS)
        words = gettext("Your count of %(amount)s was not entered.") % {"amount": rupiah(counted)}
        reason = cleaned.get("reason")
        return words + (" " + gettext("Your reason was: %(reason)s") % {"reason": reason} if reason else "")


class CorrectForm(CountForm):
    """The right count of a closed shift, and the reason why the first one was wrong."""

    reason = forms.CharField(label=_("Why the count was wrong"), max_length=500, widget=forms.TextInput(_LINE))

    def __init__(self, *args: Any, shift: Shift, **kwargs: Any) -> None:
        counted = zip(DENOMINATIONS, shift.counted_pieces or [], strict=False)
        super().__init__(*args, initial={_name(value): number or None for value, number in counted}, **kwargs)


class _DrawerSelect(forms.Select):
    """The drawers, each with the rupiah that its last count left (`data-left`), unless the count is blind."""

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        left = _left_to_show(value.instance) if value else None
        return option if left is None else {**option, "attrs": {**option["attrs"], "data-left": left}}


class _DrawerField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A free drawer; its words name the cash in it, for people without scripts."""

    def label_from_instance(self, drawer: Any) -> str:
        """The name, from the second branch on with its branch, and the cash that the last shift left."""
        left = _left_to_show(drawer)
        name = _place_of(drawer)
        words = gettext("%(name)s – left in it: %(amount)s")
        return name if left is None else words % {"name": name, "amount": rupiah(left)}


def _place_of(drawer: Any) -> str:
    """The drawer's name, from the second branch on with its branch."""
    return " · ".join(filter(None, (str(drawer), branch_name(drawer.branch_id))))


def _left_to_show(drawer: Any) -> int | None:
    return None if policies().blind_count else drawer.left


class OpenForm(CountForm):
    """The drawer, and the count of it. The drawers of `person`'s branch come first; no other is preselected."""

    drawer = _DrawerField(
        label=_("Drawer"),
        queryset=Drawer.objects.none(),
        empty_label=None,
        widget=_DrawerSelect({"class": "form-select"}),
    )

    reason = forms.CharField(
        label=_("Why it is not what was left"), required=False, max_length=500, widget=forms.TextInput(_LINE)
    )

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._branch = person.sells_in
        if self.is_bound:
            # The service that opens it refuses a drawer that somebody has taken meanwhile; the typed values stay.
            self.fields["drawer"].queryset = _with_left(narrowed(Drawer.objects.all()))  # type: ignore[attr-defined]
        else:
            self._offer()
            used = Shift.objects.filter(cashier=person.pk, drawer__branch=self._branch).order_by("-opened_at")
            self.initial["drawer"] = free_usual_drawer(person) or used.values_list("drawer", flat=True).first()

    def clean(self) -> dict[str, Any]:
        """Offer the free drawers, and the chosen one."""
        cleaned = super().clean() or {}
        self._offer(cleaned["drawer"].pk if "drawer" in cleaned else None)
        return cleaned

    def _offer(self, chosen: int | None = None) -> None:
        """The drawers that nobody has open, and the chosen one, the own branch's first."""
        taken = Shift.objects.filter(closed_at=None).values("drawer")
        free = Q(is_active=True) & ~Q(pk__in=taken)
        is_elsewhere = Case(When(branch=self._branch, then=0), default=1)
        field: Any = self.fields["drawer"]
        field.queryset = _with_left(narrowed(Drawer.objects.filter(free | Q(pk=chosen))).order_by(is_elsewhere, "name"))
        first = field.queryset.first()
        if first and first.branch_id != self._branch:
            field.empty_label = gettext("Choose a drawer of another branch")


def _with_left(drawers: Any) -> Any:
    """The drawers, each with the rupiah that its last count left (`left`; None before its first count)."""
    last = Shift.objects.filter(drawer=OuterRef("pk")).order_by("-opened_at", "-pk")
    return drawers.annotate(left=Subquery(last.values("counted")[:1]))


class UsualDrawerForm(forms.Form):
    """The drawer that a person usually opens: one of `person`'s branch, else any that the reader sees."""

    drawer = forms.ModelChoiceField(
        label=_("Usual drawer"),
        queryset=Drawer.objects.none(),
        required=False,
        empty_label=_("No usual drawer"),
        widget=forms.Select({"class": "form-select"}),
        help_text=_("Offered first when this person opens a drawer. Everybody else can open it, too."),
    )

    def __init__(self, data: Any = None, *, person: User | None = None) -> None:
        super().__init__(data)
        is_usual = Exists(UsualDrawer.objects.filter(person=person.pk if person else None, drawer=OuterRef("pk")))
        field: Any = self.fields["drawer"]
        field.queryset = narrowed(Drawer.objects.filter(is_active=True)).order_by("branch", "name")
        if person is not None:
            field.queryset = field.queryset.filter(branch=person.branch_id)
        self.drawers = list(field.queryset.annotate(is_usual=is_usual))
        name = str if person else _place_of
        field.choices = [("", field.empty_label), *((drawer.pk, name(drawer)) for drawer in self.drawers)]
        self.initial["drawer"] = next((drawer.pk for drawer in self.drawers if drawer.is_usual), None)


class JoiningForm(UsualDrawerForm):
    """The usual drawer of a new person, as a part of the invitation (`staff.joining`)."""

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        if not self.drawers:
            del self.fields["drawer"]

    def keep(self, person: User, *, actor: User) -> None:
        """Keep the chosen drawer. Raises `Refused`, and also shows the refusal beside the field."""
        if drawer := self.cleaned_data.get("drawer"):
            try:
                set_usual_drawer(person, drawer, actor=actor)
            except Refused as refusal:
                self.add_error("drawer", forms.ValidationError(str(refusal), code=refusal.code))
                raise


class CloseForm(CountForm):
    """The closing count, the reason for a difference, and the next person at the drawer."""

    to = forms.ModelChoiceField(
        label=_("Hand over to"),
        queryset=User.objects.none(),
        required=False,
        empty_label=_("Nobody: the drawer is closed"),
        widget=forms.Select({"class": "form-select"}),
    )
    secret = forms.CharField(
        label=_("Password of the next cashier, or the PIN at a till"),
        required=False,
        strip=False,
        max_length=200,
        widget=forms.PasswordInput({"class": "form-control", "autocomplete": "off"}),
    )
    reason = forms.CharField(label=_("Why it differs"), required=False, max_length=500, widget=forms.TextInput(_LINE))

    def __init__(self, *args: Any, shift: Shift, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["to"]
        field.queryset = _who_may_take_over().exclude(pk=shift.cashier_id)  # type: ignore[attr-defined]
        field.label_from_instance = lambda person: person.shown_name  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """The next person types their own password or PIN."""
        cleaned = super().clean() or {}
        if cleaned.get("to") and not cleaned.get("secret"):
            self.add_error("secret", _("Let this person count, and type their own password or PIN."))
        return cleaned


def _who_may_take_over() -> Any:
    """People who may use a drawer and have none open, without those who never chose a password."""
    busy = Shift.objects.filter(closed_at=None).values("cashier")
    return narrowed(User.objects.holding(Right.USE_DRAWERS).joined()).exclude(pk__in=busy).order_by("username")


class PaidForm(SumForm):
    """Cash that comes in or goes out for a reason other than a sale."""

    field_order = ("way", "amount", "reason")
    way = forms.ChoiceField(
        label=_("What"),
        choices=[("out", pgettext_lazy("drawer", "Paid out")), ("in", pgettext_lazy("drawer", "Paid in"))],
        widget=forms.Select({"class": "form-select"}),
    )
    reason = forms.CharField(label=_("What for"), max_length=500, widget=forms.TextInput(_LINE))


class ReferenceField(forms.CharField):
    """The number on a slip or of a transfer, at most as long as a payment keeps it."""

    def __init__(self) -> None:
        label = _("Number on the slip (card), or of the transfer")
        super().__init__(label=label, required=False, max_length=60, widget=forms.TextInput(_LINE))


class PaymentForm(forms.Form):
    """The way in which the customer paid."""

    method = forms.ChoiceField(label=_("Paid by"), choices=method_choices)
    cash_given = RupiahField(
        label=_("Cash given"), required=False, widget=forms.TextInput({**_LINE, "inputmode": "numeric"})
    )
    reference = ReferenceField()
    customer = CreditCustomerField()

    def clean(self) -> dict[str, Any]:
        """Ignore the customer unless the method needs a debtor, and the given cash unless it counts as cash."""
        cleaned = super().clean() or {}
        method = find_method(cleaned.get("method", ""))
        if method and not method.needs_debtor:
            self.errors.pop("customer", None)
            cleaned["customer"] = None
        if method and not method.counts_as_cash:
            self.errors.pop("cash_given", None)
            cleaned["cash_given"] = None
        return cleaned

    @property
    def needed(self) -> list[forms.BoundField]:
        """The fields of which a method needs at most one."""
        return [self[name] for name in ("cash_given", "reference", "customer")]


class PaidByForm(forms.Form):
    """The customer's payment, inside the form that confirms an order; therefore its fields have other names."""

    paid_by = forms.ChoiceField(label=_("Paid by"), choices=method_choices, required=False)
    cash_given = RupiahField(label=_("Cash given"), required=False)
    paid_by_customer = CreditCustomerField()
    paid_reference = ReferenceField()
    transfer_reference = ReferenceField()
    in_shift = forms.BooleanField(required=False)

    def payment(self, amount: int) -> PaymentFacts:
        """The payment of a posted review, for `amount` rupiah in all: cash unless a method was chosen.

        Raises `PaymentUnclear`, or `CreditRefused`.
        """
        self.full_clean()
        cleaned = self.cleaned_data
        facts = PaymentFacts(method=cleaned.get("paid_by", "?") or CASH)
        slip = "paid_reference" if facts.row.needs_reference else "transfer_reference"
        facts = replace(facts, reference=cleaned.get(slip, "") if facts.row.keeps_reference else "")
        # A customer, or cash, that was typed before another method was chosen does not count.
        counts = {"paid_by_customer": facts.row.needs_debtor, "cash_given": facts.row.counts_as_cash}
        faults = [words for name, words in self.errors.items() if counts.get(name, True)]
        if faults:
            raise PaymentUnclear(faults[0][0])
        facts = replace(
            facts,
            cash_given=_in_rupiah(cleaned["cash_given"], amount) if facts.row.counts_as_cash else None,
            customer=cleaned["paid_by_customer"] if facts.row.needs_debtor else None,
            is_in_shift=cleaned["in_shift"],
        )
        facts.refuse_unless_clear(amount)
        return facts


def _in_rupiah(given: int | None, amount: int) -> int | None:
    """Cash as people type it at a counter: "50" is 50.000, unless Rp50 is enough; static/js/pay.js shows the same."""
    return given * 1000 if given and given < 1000 and given < amount else given


class GiveBackForm(forms.Form):
    """The way in which the customer got the money back, and the drawer."""

    method = forms.ChoiceField(
        label=_("Given back by"), choices=method_choices, widget=forms.Select({"class": "form-select"})
    )
    shift = forms.ModelChoiceField(
        label=_("Drawer"),
        queryset=Shift.objects.none(),
        required=False,
        empty_label=_("No drawer"),
        help_text=_("Only cash comes out of it. Another way is only noted there."),
        widget=forms.Select({"class": "form-select"}),
    )
    customer = CreditCustomerField()
    note = forms.CharField(
        label=_("Number on the slip (card), or a note"),
        required=False,
        max_length=500,
        widget=forms.TextInput(_LINE),
    )

    def __init__(
        self, *args: Any, person: User, debt: CreditEntry | None = None, sold_in: int | None = None, **kwargs: Any
    ) -> None:
        """`debt`: of a sale on credit, for its form. While the account owes money, the sale only comes off it.

        `sold_in`: the shift whose drawer took the money; a person without a drawer is offered it, if it is still open.
        """
        super().__init__(*args, **kwargs)
        field: Any = self.fields["shift"]
        field.queryset = shifts_to_pay_from(person)
        shifts = list(field.queryset)  # read once; a ModelChoiceField reads its own choices again
        names = [(shift.pk, f"{shift.drawer.name} – {shift.cashier.shown_name}") for shift in shifts]
        field.choices = [("", field.empty_label), *names]
        likely = [shift.pk for shift in shifts if shift.cashier_id == person.pk]
        likely += [shift.pk for shift in shifts if shift.pk == sold_in and not debt]
        field.initial = next(iter(likely), None)
        if debt:
            del self.fields["customer"]
        if debt and debt.account.customer_id is None:
            method: Any = self.fields["method"]
            method.choices = money_choices()
        if debt and debt.account.balance > 0:
            self.fields["method"].widget = forms.HiddenInput()
            self.fields["note"].label = _("Note (optional)")
            field.label, field.empty_label, field.help_text = _("Noted in the shift"), _("In none"), ""
            field.choices = [("", field.empty_label), *names]
            if field.initial or not names:
                field.widget = forms.HiddenInput()

    def clean(self) -> dict[str, Any]:
        """Cash comes out of a drawer. Ignore the customer unless the method needs a debtor."""
        cleaned = super().clean() or {}
        method = find_method(cleaned.get("method", ""))
        if method and not method.needs_debtor:
            self.errors.pop("customer", None)
            cleaned["customer"] = None
        if counts_as_cash(cleaned.get("method", "")) and not cleaned.get("shift"):
            self.add_error("shift", _("Cash comes out of an open drawer. Choose it, or open one first."))
        return cleaned


def shifts_to_pay_from(person: User) -> Any:
    """The open shifts from which this person may give money back: the own one, or all for managers of drawers."""
    every = Shift.objects.filter(closed_at=None).select_related("drawer", "cashier").order_by("drawer__name")
    open_shifts = narrowed(every, "drawer__branch")
    return open_shifts if person.has_perm(Right.MANAGE_DRAWERS) else open_shifts.filter(cashier=person.pk)


class DrawerForm(WithBranch):
    """A drawer's name, whether it is in use, and its branch."""

    name = forms.CharField(label=_("Name of the drawer"), max_length=60, widget=forms.TextInput(_LINE))
    is_active = forms.BooleanField(label=_("In use"), required=False, initial=True)
