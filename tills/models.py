"""Tills: the shop's browsers at which the next cashier takes over by PIN."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from branches.models import FIRST, Branch
from core.rights import Right
from policies.services import policies
from staff.models import User


class Till(models.Model):
    """One enrolled browser: the person there by PIN, and the wrong PINs that were typed there."""

    name = models.CharField(_("name"), max_length=60)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token in the browser's cookie.")
    branch = models.ForeignKey(Branch, db_default=FIRST, on_delete=models.PROTECT, related_name="tills", db_index=False)
    enrolled_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    enrolled_at = models.DateTimeField()
    switched_off_at = models.DateTimeField(null=True)
    pin_limit = models.BigIntegerField(
        null=True, blank=True, help_text="The most for one order by PIN, in rupiah; if empty, the policy's."
    )

    held_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+", help_text="By PIN.")
    active_at = models.DateTimeField(null=True, help_text="When that person last did something here.")

    wrong_pins = models.JSONField(
        default=dict,
        help_text="How many wrong PINs of each person (by key) count towards a lock; a right PIN clears that person's.",
    )
    wrong_at = models.DateTimeField(null=True)
    guesses = models.PositiveBigIntegerField(default=0, help_text="Every PIN ever sent, checked or not.")
    pin_locks = models.PositiveSmallIntegerField(default=0, help_text="Locks in a row; each lasts twice as long.")
    pin_locked_until = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        permissions = Right.of("tills.till")
        constraints = [
            models.UniqueConstraint(Upper("name"), condition=Q(switched_off_at=None), name="till_name_once"),
            models.CheckConstraint(condition=Q(switched_off_at=None) | Q(held_by=None), name="till_off_held_by_nobody"),
            models.CheckConstraint(condition=Q(pin_limit=None) | Q(pin_limit__gte=0), name="till_limit_not_negative"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("till_detail", args=[self.pk])

    @property
    def is_on(self) -> bool:
        """Whether it counts as a till."""
        return self.switched_off_at is None

    @property
    def wrong_count(self) -> int:
        """The number of wrong PINs that no right PIN has cleared."""
        return sum(self.wrong_pins.values())

    @property
    def limit(self) -> int:
        """The most that one order by PIN may cost here, in rupiah."""
        return policies().pin_order_limit if self.pin_limit is None else self.pin_limit


class PrinterWay(models.TextChoices):
    """The way in which a page reaches a receipt printer without the browser's print window."""

    USB = "usb", _("USB")
    SERIAL = "serial", _("Serial port (also a virtual one)")
    BLUETOOTH = "bluetooth", _("Bluetooth Low Energy")


class Roll(models.TextChoices):
    """The width of a receipt printer's paper."""

    MM58 = "58", _("58 mm")
    MM80 = "80", _("80 mm")


class PrinterLanguage(models.TextChoices):
    """The commands that a receipt printer understands."""

    ESC_POS = "esc-pos", _("ESC/POS (most printers)")
    STAR_PRNT = "star-prnt", _("StarPRNT")
    STAR_LINE = "star-line", _("Star Line")


class Codepage(models.TextChoices):
    """The letters that a receipt printer has in addition to plain ones."""

    CP437 = "cp437", "CP437"
    CP850 = "cp850", "CP850"
    CP858 = "cp858", "CP858"
    WINDOWS_1252 = "windows1252", "Windows-1252"


class Speed(models.IntegerChoices):
    """Bits per second of a serial port."""

    B9600 = 9600, "9600"
    B19200 = 19200, "19200"
    B38400 = 38400, "38400"
    B57600 = 57600, "57600"
    B115200 = 115200, "115200"


class TillPrinter(models.Model):
    """The receipt printer that the pages of a till reach directly; without a row they use the browser's print window.

    Only the browser knows the device: a person chose it there, and the browser keeps the permission.
    """

    till = models.OneToOneField(Till, on_delete=models.PROTECT, primary_key=True, related_name="printer")
    way = models.CharField(max_length=9, choices=PrinterWay.choices)
    roll = models.CharField(max_length=2, choices=Roll.choices)
    language = models.CharField(max_length=9, choices=PrinterLanguage.choices)
    codepage = models.CharField(max_length=11, choices=Codepage.choices)
    speed = models.PositiveIntegerField(choices=Speed.choices, help_text="Bits per second of a serial port.")
    has_drawer = models.BooleanField(help_text="A cash drawer hangs at it, and opens by it.")

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(way__in=PrinterWay.values), name="till_printer_way_is_known"),
            models.CheckConstraint(condition=Q(roll__in=Roll.values), name="till_printer_roll_is_known"),
            models.CheckConstraint(
                condition=Q(language__in=PrinterLanguage.values), name="till_printer_language_is_known"
            ),
            models.CheckConstraint(condition=Q(codepage__in=Codepage.values), name="till_printer_codepage_is_known"),
            models.CheckConstraint(condition=Q(speed__in=Speed.values), name="till_printer_speed_is_known"),
        ]

    def __str__(self) -> str:
        return f"printer of {self.till_id}"


class DrawerOpening(models.Model):
    """An instruction to a till's page: open the cash drawer at the printer, once for each movement of cash."""

    till = models.ForeignKey(Till, on_delete=models.PROTECT, related_name="+", db_index=False)
    cause = models.CharField(max_length=80, unique=True, help_text='What moves cash, such as "sale BO-…".')
    asked_at = models.DateTimeField()
    taken_at = models.DateTimeField(null=True, help_text="When a page of the till got the instruction, once.")

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.cause


class EnrolmentCode(models.Model):
    """A code, valid once and for some minutes, that makes the browser in which it is typed a till."""

    digest = models.CharField(max_length=64, unique=True, help_text="Keyed hash of the code.")
    name = models.CharField(max_length=60)
    branch = models.ForeignKey(Branch, db_default=FIRST, on_delete=models.PROTECT, related_name="+", db_index=False)
    pin_limit = models.BigIntegerField(null=True, blank=True)
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"code for {self.name}"


class Pin(models.Model):
    """A person's PIN, hashed. It counts only at a till."""

    person = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="pin")
    encoded = models.CharField(max_length=128)
    set_at = models.DateTimeField()
    epoch = models.PositiveIntegerField(
        null=True, help_text="The account's `device_epoch` when it was set: the PIN counts while they are the same."
    )

    def __str__(self) -> str:
        return f"PIN of {self.person_id}"


# These copies show a till or a PIN that was made without the pages. Guesses and takeovers have their own events.
_PASSING = ["digest", "held_by", "active_at", "wrong_pins", "wrong_at", "guesses", "pin_locks", "pin_locked_until"]
TillHistory = history_of(Till, exclude=_PASSING)
PinHistory = history_of(Pin, exclude=["encoded"])


@dataclass(frozen=True, kw_only=True)
class HeldTill:
    """A till that a person holds by PIN, as it is read with the person of a request."""

    pk: int
    name: str
    digest: str
    branch: int
    active_at: dt.datetime
    limit: int


class PinPerson(User):
    """A person who signed in by PIN: never an owner, and never stored as one."""

    by_pin: ClassVar[bool] = True
    #: Not stored: the facts that `tills.backends` reads with the person, and the rights that a PIN leaves.
    tills: Sequence[HeldTill]
    held: Sequence[str]
    held_tills: str
    was_owner: bool = False
    #: Not stored: the rights that a sign-in with the password would add, and whether one of them was missing here.
    beyond_pin: Collection[str] = ()
    lacks_password: bool = False

    class Meta:
        proxy = True
        default_permissions = ()

    @property
    def sells_in(self) -> int:
        """The key of the till's branch."""
        return next((till.branch for till in self.tills), self.branch_id)

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any], **more: Any) -> PinPerson:
        """The person, without an owner's flags."""
        person = super().from_db(db, field_names, values, **more)
        person.was_owner = person.__dict__.get("is_superuser", False)
        for flag in ("is_superuser", "is_staff"):
            if flag in person.__dict__:
                person.__dict__[flag] = False
        return person

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        """Whether a PIN has this right; `lacks_password` notes that only the password is missing."""
        holds = super().has_perm(perm, obj)
        self.lacks_password |= not holds and perm in self.beyond_pin
        return holds

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **options: Any) -> None:
        """Store `last_login` and nothing else: rights and limits are cut for the PIN. Raises `NotStored`."""
        if update_fields is None or not set(update_fields) <= {"last_login"}:
            raise NotStored
        super().save(*args, update_fields=update_fields, **options)


class NotStored(TypeError):
    """A person whose rights were cut for a PIN cannot be stored."""
