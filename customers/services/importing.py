"""Imports customers from a table: first plans the effect of each row, then saves all in one transaction."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from django.db import transaction
from django.db.models.functions import Upper
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from audit.services import record
from catalogue.destinations import KINDS, DestinationKind, InvalidDestination
from catalogue.mending import mend_number
from catalogue.models import Product
from core.looks import LookChoices
from core.sheets import read_sheet, unread_columns
from customers.events import CUSTOMERS_IMPORTED
from customers.models import Customer, SavedNumber
from customers.services.saving import joined, one_new_customer_at_a_time
from staff.models import User

MOST_ROWS, MOST_KILOBYTES = 5_000, 256
COLUMNS = {
    "name": {"name", "nama", "customer", "pelanggan", "nama pelanggan"},
    # The form of a number shows whether it is a meter or a phone.
    "number": {
        *("number", "nomor", "no hp", "nomor hp", "hp", "phone", "telepon", "telp", "wa", "whatsapp"),
        *("meter", "meteran", "no meter", "nomor meter", "no meteran", "nomor meteran", "pln", "token", "listrik"),
    },
    "note": {"note", "catatan", "keterangan", "alamat", "address"},
    "what": {"product", "produk", "biller", "code", "kode", "kode produk", "for", "untuk", "kind", "jenis"},
}
# The separators between several numbers in one cell.
_BETWEEN = re.compile(r"[/|;]|,\s")
# The refusal of an unclear product names at most this many codes.
_MOST_CODES = 4


class Outcome(LookChoices):
    """The effect of a row; outcomes that need a look come first."""

    WRONG = "wrong", "alert-triangle", "bad", gettext_lazy("Not saved")
    TWICE = "twice", "copy", "held", gettext_lazy("Twice in the file")
    NEW_CUSTOMER = "new_customer", "user-plus", "success", gettext_lazy("New customer")
    NEW_NUMBER = "new_number", "plus", "success", gettext_lazy("New number")
    KNOWN = "known", "check", "queued", gettext_lazy("Known already")


@dataclass
class Planned:
    """One number of a row (`typed`), and the values that would be saved. `words`: why it is wrong."""

    pk: int
    line: int
    name: str
    note: str
    typed: str
    destination: str = ""
    kind: DestinationKind | None = None
    product: Product | None = None
    outcome: Outcome = Outcome.WRONG
    words: str = ""


@dataclass
class Import:
    """All rows of a table, in their order. `known`: the customers that exist already, by name in capitals.

    `unread`: the headings of columns that are left out. `overtaken`: rows whose number a colleague has saved meanwhile.
    """

    rows: list[Planned]
    known: dict[str, Customer] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    overtaken: int = 0

    @cached_property
    def counts(self) -> Counter[Outcome]:
        return Counter(row.outcome for row in self.rows)

    @property
    def saved(self) -> list[Planned]:
        return [row for row in self.rows if row.outcome in {Outcome.NEW_CUSTOMER, Outcome.NEW_NUMBER}]


def plan_import(text: str) -> Import:
    """The plan of what the table would save; nothing is stored. Raises `SheetRefused`."""
    rows: list[tuple[Planned, str]] = []
    for row in read_sheet(text, COLUMNS, most=MOST_ROWS):
        name, note = (row.cells[name] for name in ("name", "note"))
        for typed in [part.strip() for part in _BETWEEN.split(row.cells["number"]) if part.strip()] or [""]:
            rows.append((Planned(len(rows), row.line, name, note, typed), row.cells["what"]))
    texts = {what.casefold() for _row, what in rows if what}
    whats = _meant_by(texts)
    likely = _codes_like(texts - whats.keys())
    for planned, what in rows:
        planned.words = _read(planned, what, whats, likely)
    plan = Import(
        [planned for planned, _what in rows],
        _customers_called({planned.name.upper() for planned, _what in rows}),
        unread_columns(text, COLUMNS),
    )
    _compare(plan)
    return plan


def import_customers(text: str, *, actor: User) -> Import:
    """Save what the table adds, all or nothing; return the executed plan. Raises `SheetRefused`.

    The same table again adds nothing. A customer who is known keeps name and note.
    """
    with transaction.atomic():
        one_new_customer_at_a_time()
        plan = plan_import(text)
        if not _lock(plan.known.values()):
            plan = plan_import(text)
        new: dict[str, list[Planned]] = {}
        for row in plan.saved:
            if row.name.upper() not in plan.known:
                new.setdefault(row.name.upper(), []).append(row)
        notes = {key: joined(*(row.note for row in rows))[: Customer.NOTE_LETTERS] for key, rows in new.items()}
        people = [Customer(name=rows[0].name, note=notes[key], created_by=actor) for key, rows in new.items()]
        by_name = plan.known | dict(zip(new, Customer.objects.bulk_create(people, batch_size=500), strict=True))
        now = timezone.now()
        numbers = [
            SavedNumber(
                customer=by_name[row.name.upper()],
                destination=row.destination,
                kind=row.kind,
                product=row.product,
                created_at=now,
            )
            for row in plan.saved
            if row.kind
        ]
        # a number that a colleague has saved since the plan was made stays as it is
        SavedNumber.objects.bulk_create(numbers, batch_size=500, ignore_conflicts=True)
        written = SavedNumber.objects.filter(customer__in=by_name.values(), created_at=now).count()
        plan.overtaken = len(numbers) - written
        facts = {"customers": len(people), "saved_numbers": written, "rows": len(plan.rows)}
        record(CUSTOMERS_IMPORTED, actor=actor, subject="customers", facts=facts)
    return plan


def _lock(customers: Collection[Customer]) -> bool:
    """Whether all of them are still there; they stay until the transaction ends (`lock_customer`)."""
    rows = Customer.objects.filter(pk__in=[customer.pk for customer in customers]).order_by("pk")
    return len(rows.select_for_update(no_key=True).values_list("pk")) == len(customers)


def _read(
    planned: Planned, what: str, whats: dict[str, Product | DestinationKind], likely: dict[str, list[str]]
) -> str:
    """Read name and number into the row; return its fault."""
    if not 0 < len(planned.name) <= Customer.NAME_LETTERS:
        return _("A name is missing.") if not planned.name else _("The name is too long.")
    meant = whats.get(what.casefold()) if what else None
    if what and meant is None:
        return _unclear(what[:60], likely.get(what.casefold(), []))
    planned.product = meant if isinstance(meant, Product) else None
    if planned.typed:
        kind = meant.kind if isinstance(meant, Product) else meant
        try:
            planned.destination, planned.kind = mend_number(planned.typed, kind)
        except InvalidDestination as refusal:
            return str(refusal)
    return ""


def _unclear(what: str, codes: list[str]) -> str:
    """The reason why this names no product, and what to write instead."""
    if codes:
        words = _("“%(what)s” is not one product. Write its code, such as %(codes)s.")
        return words % {"what": what, "codes": ", ".join(codes)}
    kinds = ", ".join(KINDS)
    words = _("There is no product, biller or kind “%(what)s”. Write a product's code, or one of: %(kinds)s.")
    return words % {"what": what, "kinds": kinds}


def _codes_like(texts: set[str]) -> dict[str, list[str]]:
    """For each text, the codes of the first products whose code or name contains it; at most `_MOST_CODES`."""
    like: defaultdict[str, list[str]] = defaultdict(list)
    products = Product.objects.listed().order_by("code").values_list("code", "name") if texts else ()
    for code, name in products:
        words = f"{code} {name}".casefold()
        for text in texts:
            if text in words and len(like[text]) < _MOST_CODES:
                like[text].append(code)
    return like


def _meant_by(texts: set[str]) -> dict[str, Product | DestinationKind]:
    """The products and kinds that the texts name, by the text in small letters: by code, or by a unique name."""
    by_name: defaultdict[str, list[int]] = defaultdict(list)
    by_code: dict[str, int] = {}
    for pk, code, name in Product.objects.listed().values_list("pk", "code", "name") if texts else ():
        if code.casefold() in texts:
            by_code[code.casefold()] = pk
        elif name.casefold() in texts:
            by_name[name.casefold()].append(pk)
    meant = {text: pks[0] for text, pks in by_name.items() if len(pks) == 1} | by_code
    products = Product.objects.select_related("brand", "category").in_bulk(meant.values())
    kinds = {text: kind for kind in KINDS.values() for text in (kind.code, str(kind.name).casefold())}
    return {**kinds, **{text: products[pk] for text, pk in meant.items()}}


def _customers_called(names: Iterable[str]) -> dict[str, Customer]:
    rows = Customer.objects.alias(any_name=Upper("name")).filter(any_name__in=names).order_by("-pk")
    return {customer.name.upper(): customer for customer in rows}


def _compare(plan: Import) -> None:
    """Set the outcome of each row without a fault."""
    numbers = SavedNumber.objects.filter(customer__in=plan.known.values())
    saved = {(pk, number, product) for pk, number, product in numbers.values_list("customer", "destination", "product")}
    read: set[tuple[str, str, int | None]] = set()
    names: set[str] = set()
    for row in plan.rows:
        if row.words:
            continue
        name, product = row.name.upper(), row.product.pk if row.product else None
        customer = plan.known.get(name)
        if (name, row.destination, product) in read or (not row.destination and name in names):
            row.outcome = Outcome.TWICE
        elif customer is None:
            row.outcome = Outcome.NEW_NUMBER if name in names else Outcome.NEW_CUSTOMER
        elif not row.destination or (customer.pk, row.destination, product) in saved:
            row.outcome = Outcome.KNOWN
        else:
            row.outcome = Outcome.NEW_NUMBER
        names.add(name)
        read.add((name, row.destination, product))
