"""Customers whom the shop knows by name, and their numbers."""

import datetime as dt
from collections.abc import Iterable
from contextlib import suppress

from django.db import DEFAULT_DB_ALIAS, IntegrityError, connection, transaction
from django.db.models import ProtectedError, QuerySet
from django.db.models.deletion import Collector
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from audit.services import record
from catalogue.destinations import DestinationKind
from catalogue.models import Product
from core.rights import Right
from customers.errors import AlreadySaved, MoneyOpen, NumbersChanged, SaleAgreed
from customers.events import CUSTOMER_ERASED, CUSTOMERS_MERGED
from customers.models import Customer, MergedCustomer, SavedNumber
from customers.services.agreed import move_agreed, name_agreed
from customers.services.leaving import forget_all
from customers.services.saved_views import forget_views, move_views
from customers.services.twins import move_all
from staff.models import User

_ERASING = 0x657261736573
_ADDING = 0x637573746F6D6572
# With more keys than this it is faster to read all merged customers.
_MOST_KEYS = 500


def customer_called(name: str, *, created_by: User) -> tuple[Customer, bool]:
    """The customer with this name in any case, or a new customer; and whether the customer is new.

    Call it in the transaction that saves more for the customer.
    """
    one_new_customer_at_a_time()
    if known := Customer.objects.filter(name__iexact=name).first():
        return known, False
    return Customer.objects.create(name=name, created_by=created_by), True


def one_new_customer_at_a_time() -> None:
    """Wait until nobody else is adding a customer: of two presses at once, the second finds the first one's customer.

    It holds until the transaction ends.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_ADDING])


def change_customer(customer: Customer) -> None:
    """Store the changed name and note. Raises `Customer.DoesNotExist` for a customer who is gone meanwhile."""
    _update(customer, "name", "note")


def _update(row: Customer | SavedNumber, *names: str) -> None:
    """Store these fields of a row that is still there. `save()` would store a deleted row again."""
    if not type(row)._default_manager.filter(pk=row.pk).update(**{name: getattr(row, name) for name in names}):
        raise type(row).DoesNotExist


def save_number(
    number: SavedNumber, *, destination: str, product: Product | None, kind: DestinationKind, note: str
) -> SavedNumber:
    """Store a new or changed number of a customer, normalised by the rules of its kind (a product has its own).

    Raises `InvalidDestination`, `AlreadySaved` when the customer has exactly this number already,
    `SavedNumber.DoesNotExist` for a changed number that somebody has deleted meanwhile, and `Customer.DoesNotExist`
    for a new number of a customer who is gone meanwhile. After a merge it is a number of the customer who stayed.
    """
    number.kind = product.kind if product else kind
    number.destination = number.kind.clean(destination)
    number.product = product
    number.note = note
    try:
        with transaction.atomic():
            number.customer = _lock_holder(number)  # an erasure has read all numbers before it deletes them
            if number.pk is None:
                number.save()
            else:
                _update(number, "destination", "kind", "product", "note")
    except IntegrityError:
        raise AlreadySaved(_("%(name)s has this number already.") % {"name": number.customer}) from None
    return number


def _lock_holder(number: SavedNumber) -> Customer:
    """The customer who has this number, or gets it, locked; after a merge the one who stayed."""
    with suppress(Customer.DoesNotExist):
        return lock_customer(_holder_of(number))
    return lock_customer(_holder_of(number))  # the customer was merged, or erased, while we waited


def _holder_of(number: SavedNumber) -> int:
    if number.pk is None:
        return where_merged([number.customer_id]).get(number.customer_id, number.customer_id)
    return SavedNumber.objects.values_list("customer", flat=True).get(pk=number.pk)


def who_saved(destination: str, *, before: dt.datetime | None = None) -> int | None:
    """The key of the first customer with this number; `before`: only if it was saved at that time or earlier."""
    saved = SavedNumber.objects.filter(destination=destination).order_by("created_at", "pk")
    by_then = saved.filter(created_at__lte=before) if before else saved
    return by_then.values_list("customer", flat=True).first()


def where_merged(keys: Iterable[int | None]) -> dict[int, int]:
    """The keys among these whose customers were merged into others, each with the key of the remaining customer."""
    wanted, merged = {key for key in keys if key}, MergedCustomer.objects.values_list("gone", "kept")
    if len(wanted) <= _MOST_KEYS:
        merged = merged.filter(gone__in=wanted)
    return {gone: kept for gone, kept in merged if gone in wanted}


def saved_names(numbers: Iterable[str]) -> QuerySet[SavedNumber, tuple[str, str]]:
    """The names under which the shop has saved these numbers: number and name, the newest last."""
    saved_numbers = SavedNumber.objects.filter(destination__in=set(numbers)).order_by("created_at", "pk")
    return saved_numbers.values_list("destination", "customer__name")


def lock_customer(pk: int) -> Customer:
    """The customer, whom nobody merges or erases until the transaction ends. Raises `Customer.DoesNotExist`.

    A room locks the customer before the account, when it agrees to a later sale (`agreed`).
    """
    # `no_key`: a sale on credit that is being committed reads the key, and holds the account that is needed next.
    return Customer.objects.select_for_update(no_key=True).get(pk=pk)


def why_kept(pk: int) -> MoneyOpen | SaleAgreed | None:
    """The reason why `erase` would refuse this customer now; None if it would not. Raises `Customer.DoesNotExist`."""
    with transaction.atomic():
        customer = lock_customer(pk)
        if refusal := _sale_agreed(customer):
            return refusal
        try:
            Collector(using=DEFAULT_DB_ALIAS).collect([customer])
        except ProtectedError:
            return _money_open(customer)
    return None


def seal_of_numbers(pk: int) -> str:
    """A hash of the customer's present numbers, which reveals none of them; the form sends it back."""
    numbers = SavedNumber.objects.filter(customer=pk).order_by("pk").values_list("pk", "destination")
    text = " ".join(f"{key}:{number}" for key, number in numbers)
    return salted_hmac("customers.numbers", text, algorithm="sha256").hexdigest()


def erase(pk: int, *, actor: User, seal: str | None = None) -> str:
    """Delete the customer with note and numbers; the event has no name. Returns the deleted name.

    Orders and bills stay. If the actor may open full numbers, they show the customer's numbers masked from now on
    (`leaving`), but not a number that another customer has, too. If anybody else deletes, orders and bills show the
    numbers as before: a seller could save a number and delete it, to hide own sales from auditors. Raises
    `Customer.DoesNotExist`, `MoneyOpen` while something is owed, either way, `SaleAgreed` while something is still to
    be sold on the customer's tab, and `NumbersChanged` if `seal` (`seal_of_numbers`) is not that of the present
    numbers, because a person deletes only what the person has read, or if they change at this moment.
    """
    masks, numbers = actor.has_perm(Right.REVEAL_NUMBERS), frozenset[str]()
    with transaction.atomic():
        _one_erasure_at_a_time()
        if masks:
            numbers = _numbers_of_nobody_else(pk)
            forget_all(numbers)  # before the customer's lock: orders come first
        customer = lock_customer(pk)
        is_read = seal is None or constant_time_compare(seal, seal_of_numbers(pk))
        # Their orders can be locked only before the customer.
        is_any_left = masks and not _numbers_of_nobody_else(pk) <= numbers
        if is_any_left or not is_read:
            raise NumbersChanged(
                _("The numbers of %(name)s have changed. Read again what goes.") % {"name": customer.name}
            )
        if refusal := _sale_agreed(customer):
            raise refusal
        try:
            customer.delete()
        except ProtectedError:  # of a room above: its account
            raise _money_open(customer) from None
        forget_views(pk, numbers)
        record(CUSTOMER_ERASED, actor=actor, subject=f"customer {pk}")
    return customer.name


def _one_erasure_at_a_time() -> None:
    """Wait for erasures under way: of two customers with one number, each would leave it unmasked for the other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_ERASING])


def _numbers_of_nobody_else(pk: int) -> frozenset[str]:
    numbers = SavedNumber.objects.filter(customer=pk).values_list("destination", flat=True)
    others = SavedNumber.objects.filter(destination__in=numbers).exclude(customer=pk)
    return frozenset(numbers) - frozenset(others.values_list("destination", flat=True))


def _money_open(customer: Customer) -> MoneyOpen:
    words = _("%(name)s cannot be deleted: there is money between this customer and the shop.")
    return MoneyOpen(words % {"name": customer.name})


def _sale_agreed(customer: Customer) -> SaleAgreed | None:
    if not (sale := name_agreed(customer.pk)):
        return None
    words = _("%(name)s cannot be deleted: %(sale)s on this customer's tab has not ended. Let it end, or cancel it.")
    return SaleAgreed(words % {"name": customer.name, "sale": sale})


def joined(*notes: str) -> str:
    """The notes as one, each once."""
    return " · ".join(dict.fromkeys(note for note in notes if note))


def absorb(kept: Customer, gone: Customer, *, name: str, note: str, actor: User) -> None:
    """Move the numbers of `gone` to `kept`, give it this name and note, and delete `gone`.

    Call it in a transaction that has locked both, and their agreed sales (`agreed`), which move, too. A number that
    both have stays once, with both notes.
    """
    own = {(number.destination, number.product_id): number for number in kept.numbers.all()}
    for number in gone.numbers.all():
        if twin := own.get((number.destination, number.product_id)) or _give(number, kept):
            twin.note = joined(twin.note, number.note)[: SavedNumber.NOTE_LETTERS]
            twin.save(update_fields=["note"])
            move_all(number, twin)
    record(CUSTOMERS_MERGED, actor=actor, subject=f"customer {kept.pk}", facts={"merged": gone.pk})
    MergedCustomer.objects.filter(kept=gone).update(kept=kept)
    MergedCustomer.objects.create(gone=gone.pk, kept=kept)
    move_agreed(gone.pk, kept.pk)
    move_views(gone.pk, kept.pk)
    gone.delete()
    kept.name, kept.note = name, note
    kept.save(update_fields=["name", "note"])


def _give(number: SavedNumber, kept: Customer) -> SavedNumber | None:
    """Give the number to this customer; return the customer's own row if somebody has saved the number meanwhile."""
    number.customer = kept
    try:
        with transaction.atomic():
            number.save(update_fields=["customer"])
    except IntegrityError:
        return kept.numbers.get(destination=number.destination, product=number.product_id)
    return None
