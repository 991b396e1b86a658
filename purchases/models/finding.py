"""Finds an order by its identifiers and parts of them, in the form of the table's indexes."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from django.db.models import Q
from django.db.models.functions import Left, Reverse, Right as RightPart, Upper

from catalogue.destinations import spellings
from core.notation import bare, has_digits
from customers.models import LEAST_END
from drawers.models import Payment

if TYPE_CHECKING:
    from purchases.models.orders import OrderQuerySet

# The first letters of an SN, as many as a search and the index use.
SN_SEARCHED = 40
SN_BEGINS = Upper(Left("sn", SN_SEARCHED))
# A shorter part of an SN matches too many orders for a search at each keystroke.
LEAST_OF_SN = 12
# The day in a ref_id, and four letters after it: less would match all orders of a day.
LEAST_OF_REF_ID = len("B251127-") + 4
# People read out the last six letters; fewer would match several of millions of orders.
END_OF_REF_ID = 6
REF_ID_ENDS = RightPart("ref_id", END_OF_REF_ID)
_LETTERS_BEHIND_DAY = 10


def end_of_ref_id(text: str) -> str:
    """The text as the last letters of a ref_id; "" if it cannot be that."""
    letters = bare(text).upper()
    return letters if END_OF_REF_ID <= len(letters) <= _LETTERS_BEHIND_DAY else ""


def but_by_number(text: str, noted: Collection[int]) -> Q:
    """The condition that still finds an order of an erased customer: by ref_id, trx_id and notes.

    A slip and a full SN find it, too, unless the text is the order's number.
    """
    plain, digits, end = text.strip().upper(), bare(text), end_of_ref_id(text)
    names = Q(ref_id__startswith=plain) | Q(trx_id__iexact=plain)
    if end:
        names |= Q(ref_id__endswith=end)
    is_another = ~Q(destination__in=spellings(text))
    if plain:
        paid = Payment.objects.filter(reference__in={text.strip(), plain}, reference__gt="")
        names |= is_another & Q(payment__in=paid.values("pk"))
    if noted and not has_digits(text):
        names |= Q(pk__in=noted)
    for sn in {plain, digits} - {""}:
        names |= is_another & (Q(sn__iexact=sn) | Q(sn__istartswith=f"{sn}/"))
    return names


def ways_to(text: str, orders: OrderQuerySet, *, by_part: bool, closely: bool) -> list[OrderQuerySet]:
    """The orders that each identifier of an order finds, as `OrderQuerySet.matching` says; each by one index."""
    plain = text.strip().upper()
    digits = bare(text)
    every = orders.alias(backwards=Reverse("destination"), sn_begins=SN_BEGINS, ref_id_ends=REF_ID_ENDS)
    sn_by_part = by_part and (not closely or len(digits) >= LEAST_OF_SN)
    ref_id_by_part = not closely or len(plain) >= LEAST_OF_REF_ID
    ways = [
        every.filter(**{"ref_id__startswith" if ref_id_by_part else "ref_id": plain}),
        every.filter(trx_id__iexact=plain),
        *(every.filter(way) for way in _with_sn(plain, by_part=sn_by_part)),
    ]
    begins = "destination__startswith" if by_part and not closely else "destination"
    ways += [every.filter(**{begins: number}) for number in sorted(spellings(text))]
    if digits and by_part and (not closely or len(digits) >= LEAST_END):
        ways.append(every.filter(backwards__startswith=digits[::-1]))
    if end := end_of_ref_id(text):
        ways.append(every.filter(ref_id_ends=end[-END_OF_REF_ID:], ref_id__endswith=end))
    if slip := text.strip():
        paid = Payment.objects.filter(reference__in={slip, plain}, reference__gt="")
        ways.append(every.filter(payment__in=paid.values("pk")))
    if digits.isdecimal() and digits != plain:  # a token, typed in its groups
        ways += [every.filter(way) for way in _with_sn(digits, by_part=sn_by_part)]
    return ways


def _with_sn(sn: str, *, by_part: bool) -> list[Q]:
    if by_part:
        return [Q(sn_begins__startswith=sn[:SN_SEARCHED])]
    first = f"{sn}/"
    return [
        Q(sn_begins=sn[:SN_SEARCHED], sn__iexact=sn),
        Q(sn_begins__startswith=first[:SN_SEARCHED], sn__istartswith=first),
    ]
