"""Shows customers' accounts in the activity log."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.facts import Fact, money, name_facts
from audit.subjects import About, Place, Seen, Subject, register
from core.rights import Right
from customers.models import Customer
from staff.models import User


class _Customers(Subject):
    """Customers, for readers who may see them. A link leads to the account rather than to the customer's page."""

    def about(self, key: str, seen: Seen) -> About | None:
        may_see = _sees_credit(seen.reader) or seen.reader.has_perms(self.rights)
        return super().about(key, seen if may_see else seen._replace(rows={}))

    def url(self, reader: User, *args: Any) -> str:
        """The account's page; the customer's page for a reader who may see only that."""
        return reverse("credit_account", args=args) if _sees_credit(reader) else super().url(reader, *args)


def _sees_credit(reader: User) -> bool:
    return reader.has_perm(Right.USE_CREDIT) or reader.has_perm(Right.VIEW_CREDIT)


_words = pgettext_lazy("audit", "Customer no. %(number)s")
name_facts(
    cap=Fact(pgettext_lazy("audit", "Cap"), money),
    due_days=Fact(pgettext_lazy("audit", "Days until due")),
    due_on=Fact(pgettext_lazy("audit", "Due on")),
)
register(
    _Customers("customer", _words, "customer_detail", Right.VIEW_CUSTOMERS, model=Customer),
    Place("file", _("Tabs"), "credit_list", Right.VIEW_CREDIT, keys="credit"),
)
