"""Triggers with which the database itself protects an order (`Order.Meta.triggers`)."""

import pgtrigger

from purchases.states import FINAL


def ended_for_good() -> pgtrigger.Trigger:
    """Cost, seller, trx_id and SN of a final order never change. An SN that people entered may be replaced."""
    return pgtrigger.Protect(
        name="ended_for_good",
        operation=pgtrigger.Update,
        condition=pgtrigger.Q(old__status__in=sorted(FINAL))
        & (
            pgtrigger.Q(old__price__df=pgtrigger.F("new__price"), old__price__isnull=False)
            | pgtrigger.Q(old__max_price__df=pgtrigger.F("new__max_price"))
            | pgtrigger.Q(old__placed_by__df=pgtrigger.F("new__placed_by"))
            | pgtrigger.Q(old__trx_id__df=pgtrigger.F("new__trx_id"), old__trx_id__gt="")
            | pgtrigger.Q(old__sn__df=pgtrigger.F("new__sn"), old__sn_by_hand=False, old__sn__gt="")
        ),
    )


def sold_for_one_price() -> pgtrigger.Trigger:
    """The customer's price stays as placed. A bill, and an order at cost, follow the cost that people confirm."""
    follows = "(OLD.kind = 'bill' OR OLD.selling_price = OLD.max_price)"
    as_much = "NEW.selling_price - NEW.max_price = OLD.selling_price - OLD.max_price"
    return pgtrigger.Protect(
        name="sold_for_one_price",
        operation=pgtrigger.Update,
        condition=pgtrigger.Condition(
            "OLD.fee IS DISTINCT FROM NEW.fee OR (OLD.selling_price IS DISTINCT FROM NEW.selling_price"
            f" AND NOT COALESCE({follows} AND {as_much}, FALSE))"
        ),
    )
