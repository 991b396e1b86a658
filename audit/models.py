"""Audit events, and the tree that seals them with all other audited rows. Only `audit.services` writes here."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils import timezone

from core.rights import Right
from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, never_truncated, own_transaction


class AuditEvent(models.Model):
    """One act of a person, of an unknown person, or of a command. It holds no secret."""

    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)
    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=40, help_text="The key of an `audit.events.Event`.")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,  # the one with the id serves
        help_text="Who did it; empty: a command, or nobody is signed in.",
    )
    role = models.CharField(max_length=200, blank=True, help_text="The roles of that person at that time.")
    address = models.CharField(max_length=45, blank=True, help_text="As the trusted proxy saw it; empty: no request.")
    request_id = models.CharField(max_length=64, blank=True, help_text="Id of the request; also in the log.")
    subject = models.CharField(max_length=200, blank=True, help_text="What it is about: a ref_id, a user name, a list.")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    facts = models.JSONField(null=True, help_text="What else there is to say.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("audit.auditevent")
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["txid", "id"], name="audit_event_to_seal"),
            models.Index(fields=["person", "-at", "-id"], name="audit_event_by_person"),
            models.Index(fields=["kind", "-at", "-id"], name="audit_event_by_kind"),
            models.Index(fields=["subject", "-at", "-id"], name="audit_event_by_subject"),
            models.Index(fields=["-at", "-id"], name="audit_event_by_time"),
        ]
        triggers = [*append_only(), own_transaction()]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}".rstrip()


class Source(models.Model):
    """An audited table, by the number that stands for it in the keys of the leaves."""

    number = models.SmallAutoField(primary_key=True)
    table = models.CharField(max_length=63, unique=True)

    class Meta:
        default_permissions = ()
        triggers = append_only()

    def __str__(self) -> str:
        return self.table


class Tile(models.Model):
    """Up to 256 neighbouring hashes: of leaves (level 0), or of whole tiles of the level below.

    A tile only grows. The keys of its leaves say which row each is: transaction, source, row (`services.sources.Key`).
    """

    level = models.SmallIntegerField()
    number = models.BigIntegerField()
    hashes = models.BinaryField()
    keys = models.BinaryField(default=bytes, help_text="Level 0: one for each leaf, in order.")
    first_key = models.BinaryField(null=True, help_text="Level 0: finds the tile of a row.")

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["level", "number"], name="tile_once")]
        indexes = [models.Index(fields=["first_key"], name="tile_by_key", condition=models.Q(level=0))]
        triggers = [
            pgtrigger.Trigger(
                name="only_grows",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                func="IF (NEW.level, NEW.number, NEW.first_key) IS DISTINCT FROM (OLD.level, OLD.number, OLD.first_key)"
                " OR substring(NEW.hashes FROM 1 FOR length(OLD.hashes)) <> OLD.hashes"
                " OR substring(NEW.keys FROM 1 FOR length(OLD.keys)) <> OLD.keys"
                " THEN RAISE EXCEPTION 'a tile only grows'; END IF; RETURN NEW;",
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.level}/{self.number}"


class Checkpoint(models.Model):
    """The tree at one moment, signed."""

    size = models.BigIntegerField(primary_key=True, help_text="How many leaves.")
    root = models.BinaryField()
    at = models.DateTimeField()
    note = models.TextField(help_text="Signed text, in the format of C2SP's tlog-checkpoint.")

    class Meta:
        ordering = ["size"]
        default_permissions = ()
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.size} leaves"


class Sealing(models.Model):
    """The progress of sealing and verifying. One row: the sealer holds its lock."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    size = models.BigIntegerField(default=0, help_text="Leaves in the tree.")
    key = models.CharField(
        max_length=36, blank=True, help_text="The last leaf, hexadecimal; later rows are not sealed."
    )
    sealed_at = models.DateTimeField(null=True, help_text="When the sealer had nothing left to seal.")
    published = models.BigIntegerField(default=0, help_text="The last checkpoint that left: log and file.")
    announced_at = models.DateTimeField(null=True, help_text="When one was sent to people last.")
    verified_at = models.DateTimeField(null=True)
    made_up = models.BooleanField(default=False, help_text="The sandbox has a made-up past, of which nothing is kept.")
    flaw = models.JSONField(null=True, help_text="What the last verification found: {table, id, reason}.")

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=models.Q(only=True), name="sealing_is_one_row")]

    def __str__(self) -> str:
        return f"{self.size} sealed"
