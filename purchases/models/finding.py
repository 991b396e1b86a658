"""What finds an order: its names and parts of them, as the indexes of its table have them."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q
from django.db.models.functions import Left, Upper
from django.db.models.functions import Right as RightPart

from catalogue.destinations import spellings
from core.notation import bare, has_digits
from drawers.models import Payment

# As much of an SN as a search looks at.
SN_SEARCHED = 40
SN_BEGINS = Upper(Left("sn", SN_SEARCHED))
# A shorter part of an SN names too many orders to look them up at each letter that is typed.
LEAST_OF_SN = 12
# The day of a ref_id, and four letters behind it: fewer would name a day's orders.
LEAST_OF_REF_ID = len("B251127-") + 4
# As many of its last letters people read out; fewer would name several of millions of orders.
END_OF_REF_ID = 6
REF_ID_ENDS = RightPart("ref_id", END_OF_REF_ID)
_LETTERS_BEHIND_DAY = 10


def end_of_ref_id(text: str) -> str:
    """The last letters of a ref_id, as many as people may have read out; "" if the text can be no such end."""
    letters = bare(text).upper()
    return letters if END_OF_REF_ID <= len(letters) <= _LETTERS_BEHIND_DAY else ""


def but_by_number(text: str, noted: Collection[int]) -> Q:
    """What finds an order of an erased customer: its names, and the slip and the whole SN that are not its number."""
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


def with_sn(sn: str, *, by_part: bool) -> list[Q]:
    if by_part:
        return [Q(sn_begins__startswith=sn[:SN_SEARCHED])]
    first = f"{sn}/"
    return [
        Q(sn_begins=sn[:SN_SEARCHED], sn__iexact=sn),
        Q(sn_begins__startswith=first[:SN_SEARCHED], sn__istartswith=first),
    ]
