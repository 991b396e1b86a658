"""The branches of the shop: the places where it sells. There is always one; a shop with one never sees the word."""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from core.triggers import never_truncated

#: The branch that the shop has from the beginning; everything that nobody moved belongs to it.
FIRST = 1


class Branch(models.Model):
    """A place where the shop sells, and the texts of its receipts; an empty text is the shop's. "\\n" ends a line."""

    name = models.CharField(_("name"), max_length=60)
    address = models.CharField(_("address"), max_length=200, blank=True)
    phone = models.CharField(_("phone or WhatsApp"), max_length=20, blank=True)
    footer = models.CharField(_("footer"), max_length=400, blank=True)
    closed_at = models.DateTimeField(null=True, help_text="Nobody and nothing can be moved there any more.")

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="branch_has_a_name"),
            models.UniqueConstraint(Upper("name"), condition=Q(closed_at=None), name="branch_name_once"),
        ]
        triggers = [
            # Each closing checks the other branches at its end, under their locks: two closings at once could leave
            # none.
            pgtrigger.Trigger(
                name="one_is_open",
                when=pgtrigger.After,
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("NEW.closed_at IS NOT NULL"),
                func="""
                    PERFORM FROM branches_branch WHERE closed_at IS NULL FOR NO KEY UPDATE;
                    IF NOT FOUND THEN RAISE EXCEPTION 'one branch is always open'; END IF;
                    RETURN NULL;
                """,
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("shop_branch", args=[self.pk])


# Each state of the row. A print names the one that its receipt shows.
BranchHistory = history_of(Branch)
