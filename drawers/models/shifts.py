"""Drawers with cash, and the shifts in which people sell out of them.

Amounts in whole rupiah. A closed shift and a signed day never change.
"""

from __future__ import annotations

from functools import reduce
from operator import add, and_

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Upper
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from branches.models import FIRST, Branch
from branches.services import has_several
from core.rights import Right
from core.triggers import never_truncated
from staff.models import User

# Rupiah of each note and coin, in the order of every count.
DENOMINATIONS = (100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100)
SMALLEST_COIN = DENOMINATIONS[-1]


def _pieces() -> ArrayField[list[int], list[int]]:
    """The counted number of each of `DENOMINATIONS`."""
    return ArrayField(models.BigIntegerField(), size=len(DENOMINATIONS))


def _adds_up(pieces: str, total: str) -> Q:
    """The count has all denominations, none below zero, and makes this amount."""
    places = range(len(DENOMINATIONS))
    counted = reduce(and_, (Q(**{f"{pieces}__{place}__gte": 0}) for place in places))
    amounts = [F(f"{pieces}__{place}") * DENOMINATIONS[place] for place in places]
    return Q(**{f"{pieces}__len": len(DENOMINATIONS), total: reduce(add, amounts)}) & counted


class Drawer(models.Model):
    """A drawer, box or bag with the shop's cash. It is not a device: its seller may work anywhere."""

    name = models.CharField(_("name"), max_length=60)
    branch = models.ForeignKey(
        Branch, db_default=FIRST, on_delete=models.PROTECT, related_name="drawers", db_index=False
    )
    is_active = models.BooleanField(default=True)

    class Meta:
        default_permissions = ()
        permissions = Right.of("drawers.drawer")
        constraints = [models.UniqueConstraint(Upper("name"), condition=Q(is_active=True), name="drawer_name_once")]
        triggers = [pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete), never_truncated()]

    def __str__(self) -> str:
        return self.name


class DrawerDay(models.Model):
    """The shifts that were closed on one day in one branch. An owner's signature freezes it in `facts`."""

    day = models.DateField()
    branch = models.ForeignKey(Branch, db_default=FIRST, on_delete=models.PROTECT, related_name="+", db_index=False)
    signed_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    signed_at = models.DateTimeField(null=True)
    facts = models.JSONField(default=dict, help_text="The closing as it was signed; rupiah.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("drawers.drawerday")
        constraints = [
            models.CheckConstraint(
                condition=Q(signed_by__isnull=True, signed_at__isnull=True)
                | Q(signed_by__isnull=False, signed_at__isnull=False),
                name="drawer_day_signed_as_a_whole",
            ),
            models.CheckConstraint(
                condition=Q(signed_at__isnull=True) | Q(signed_at__date__gt=F("day")),
                name="drawer_day_signed_when_it_is_over",
            ),
            models.UniqueConstraint(fields=["day", "branch"], name="drawer_day_once_a_branch"),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="branch_never_changes", fields=["branch"]),
            pgtrigger.Protect(
                name="signed_once", operation=pgtrigger.Update, condition=pgtrigger.Q(old__signed_at__isnull=False)
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return str(self.day)

    def get_absolute_url(self) -> str:
        return self.of_branch(reverse("drawer_day", args=[self.day.isoformat()]))

    def of_branch(self, page: str) -> str:
        """The address of a day's page, with its branch if there are several."""
        return f"{page}?branch={self.branch_id}" if has_several() else page


_CLOSED_TRUE = Q(
    closed_at__isnull=False,
    closed_by__isnull=False,
    counted__isnull=False,
    counted_pieces__isnull=False,
    expected__isnull=False,
    difference__isnull=False,
    day__isnull=False,
)
_STILL_OPEN = Q(
    closed_at__isnull=True,
    closed_by__isnull=True,
    counted__isnull=True,
    counted_pieces__isnull=True,
    expected__isnull=True,
    difference__isnull=True,
    day__isnull=True,
    reason="",
)
# The expected cash must be the sum of the sales and entries, and the day must not be signed.
_CLOSES_BY_ITS_ENTRIES = """
    IF NEW.expected IS DISTINCT FROM (
        SELECT coalesce((SELECT sum(amount) FROM drawers_drawerentry WHERE shift_id = NEW.id AND is_cash), 0)
             + coalesce((SELECT sum(amount) FROM drawers_payment WHERE sold_in_id = NEW.id AND is_cash), 0)
    ) THEN
        RAISE EXCEPTION 'shift %: expected is not the sum of its sales and entries', NEW.id;
    END IF;
    PERFORM FROM drawers_drawerday WHERE id = NEW.day_id AND signed_at IS NULL
        AND branch_id = (SELECT branch_id FROM drawers_drawer WHERE id = NEW.drawer_id) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'shift %: its day is signed, or of another branch', NEW.id;
    END IF;
    RETURN NEW;
"""


# A closed shift takes another count once, until the next shift begins with its count or its day is signed.
_COUNTED = "ARRAY['counted', 'counted_pieces', 'difference', 'reason', 'first_counted', 'correction']"
_CORRECTED_ONCE = f"""
    IF OLD.first_counted IS NOT NULL OR NEW.first_counted IS DISTINCT FROM OLD.counted
        OR to_jsonb(NEW) - {_COUNTED} IS DISTINCT FROM to_jsonb(OLD) - {_COUNTED} THEN
        RAISE EXCEPTION 'shift % is closed', NEW.id;
    END IF;
    PERFORM FROM drawers_drawerday WHERE id = NEW.day_id AND signed_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'shift %: its day is signed', NEW.id;
    END IF;
    PERFORM FROM drawers_drawer WHERE id = NEW.drawer_id FOR NO KEY UPDATE;
    PERFORM FROM drawers_shift WHERE drawer_id = NEW.drawer_id AND (opened_at, id) > (NEW.opened_at, NEW.id);
    IF FOUND THEN
        RAISE EXCEPTION 'shift %: a later shift began with its count', NEW.id;
    END IF;
    RETURN NEW;
"""
# `left_before` must be what the drawer's last shift counted.
_BEGINS_WITH_WHAT_WAS_LEFT = """
    IF NEW.left_before IS DISTINCT FROM (
        SELECT counted FROM drawers_shift WHERE drawer_id = NEW.drawer_id ORDER BY opened_at DESC, id DESC LIMIT 1
    ) THEN
        RAISE EXCEPTION 'drawer %: its last count left another amount', NEW.drawer_id;
    END IF;
    RETURN NEW;
"""


class Shift(models.Model):
    """One person with one drawer, from one count to the next. A handover ends one and begins the next person's."""

    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="shifts")
    cashier = models.ForeignKey(User, on_delete=models.PROTECT, related_name="shifts")
    opened_at = models.DateTimeField()
    opening = models.BigIntegerField(help_text="Rupiah that were counted when it began.")
    opening_pieces = _pieces()
    left_before = models.BigIntegerField(
        null=True, help_text="Rupiah that the drawer's last count had left; empty for its first shift."
    )
    opening_reason = models.CharField(max_length=500, blank=True, help_text="Why the opening is not what was left.")
    taken_from = models.OneToOneField(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="handed_to",
        help_text="The shift whose count it began with.",
    )
    closed_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    counted = models.BigIntegerField(null=True)
    counted_pieces = ArrayField(models.BigIntegerField(), size=len(DENOMINATIONS), null=True)
    expected = models.BigIntegerField(null=True, help_text="Rupiah: the sum of its sales and entries in cash.")
    difference = models.BigIntegerField(null=True, help_text="Rupiah: the counted cash less the expected cash.")
    reason = models.CharField(max_length=500, blank=True, help_text="Why it differs.")
    day = models.ForeignKey(DrawerDay, null=True, on_delete=models.PROTECT, related_name="shifts")
    first_counted = models.BigIntegerField(
        null=True, help_text="Rupiah of the first count, if it was corrected; else empty."
    )
    correction = models.CharField(max_length=500, blank=True, help_text="Why the count was corrected.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("drawers.shift")
        constraints = [
            models.UniqueConstraint(fields=["drawer"], condition=Q(closed_at=None), name="shift_open_once_a_drawer"),
            models.UniqueConstraint(fields=["cashier"], condition=Q(closed_at=None), name="shift_open_once_a_person"),
            models.CheckConstraint(condition=_CLOSED_TRUE | _STILL_OPEN, name="shift_closed_as_a_whole"),
            models.CheckConstraint(condition=_adds_up("opening_pieces", "opening"), name="shift_opening_adds_up"),
            models.CheckConstraint(
                condition=Q(left_before__isnull=True) | Q(opening=F("left_before")) | Q(opening_reason__gt=""),
                name="shift_opened_otherwise_with_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(counted__isnull=True) | _adds_up("counted_pieces", "counted"), name="shift_count_adds_up"
            ),
            models.CheckConstraint(
                condition=Q(counted__isnull=True) | Q(difference=F("counted") - F("expected")),
                name="shift_difference_is_counted_less_expected",
            ),
            models.CheckConstraint(
                condition=Q(difference__isnull=True) | Q(difference=0) | Q(reason__gt=""),
                name="shift_difference_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(first_counted__isnull=True, correction="")
                | Q(first_counted__isnull=False, correction__gt="", counted__isnull=False),
                name="shift_corrected_with_a_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["-opened_at", "-id"], name="shift_newest"),
            models.Index(fields=["cashier", "-opened_at", "-id"], name="shift_by_cashier"),
            models.Index(fields=["drawer", "-opened_at", "-id"], name="shift_by_drawer"),
        ]
        triggers = [
            pgtrigger.Protect(
                name="begins_open", operation=pgtrigger.Insert, condition=pgtrigger.Q(new__closed_at__isnull=False)
            ),
            pgtrigger.ReadOnly(
                name="how_it_began_never_changes",
                fields=[
                    *("drawer", "cashier", "opened_at", "opening", "opening_pieces", "taken_from"),
                    *("left_before", "opening_reason"),
                ],
            ),
            pgtrigger.Trigger(
                name="begins_with_what_was_left",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                func=_BEGINS_WITH_WHAT_WAS_LEFT,
            ),
            pgtrigger.Trigger(
                name="corrected_once",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__closed_at__isnull=False),
                func=_CORRECTED_ONCE,
            ),
            pgtrigger.Trigger(
                name="closes_by_its_entries",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__closed_at__isnull=True, new__closed_at__isnull=False),
                func=_CLOSES_BY_ITS_ENTRIES,
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"shift {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("shift_detail", args=[self.pk])

    @property
    def opening_difference(self) -> int:
        """The opening count less the cash that the drawer's last count had left, in rupiah."""
        return 0 if self.left_before is None else self.opening - self.left_before

    @property
    def is_open(self) -> bool:
        """Whether the shift takes entries."""
        return self.closed_at is None

    def takes_entries_of(self, person: User) -> bool:
        """Whether the shift is this person's, or the person manages drawers and sees its branch."""
        is_own = self.cashier_id == person.pk and person.has_perm(Right.USE_DRAWERS)
        sees_it = person.bound_to in {None, self.drawer.branch_id}
        return is_own or (sees_it and person.has_perm(Right.MANAGE_DRAWERS))


DrawerHistory = history_of(Drawer)
# The branch never changes, and copies from before each branch had its own days lack it.
DrawerDayHistory = history_of(DrawerDay, exclude=["branch"])
ShiftHistory = history_of(Shift)
