"""The filters of the ageing list; they live in the URL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import django_filters
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from branches.filters import BranchFilter, InBranches
from branches.seeing import own_branch
from core.filters import SearchFilter
from core.numbers import sees_whole_numbers
from credit.models import CreditAccount
from credit.services import Age, owing_in
from customers.models import Customer


class AgeingFilter(InBranches):
    """Accounts by the age of their oldest debt, the customer's name, and the branch of a sale that is not paid yet."""

    q = SearchFilter(label=_("Name"))
    age = django_filters.ChoiceFilter(
        method="of_age",
        label=_("Age"),
        empty_label=_("Every age"),
        choices=[("due", _("Overdue")), ("today", _("Due today")), *Age.choices],
    )

    branch = BranchFilter(method="of_branch")

    @classmethod
    def of(cls, params: Mapping[str, str]) -> AgeingFilter:
        """The accounts with a debt; a reader bound to a branch sees the accounts with a debt there."""
        owing, own = CreditAccount.objects.filter(balance__gt=0).order_by("oldest_due", "pk"), own_branch()
        return cls(params, queryset=owing if own is None else owing.filter(owing_in(own, with_shop=True)))

    def of_branch(self, accounts: QuerySet[CreditAccount], _name: str, branch: str) -> QuerySet[CreditAccount]:
        """The accounts that owe for a sale of this branch."""
        return accounts.filter(owing_in(int(branch)))

    def search(self, accounts: QuerySet[CreditAccount], _name: str, text: str) -> QuerySet[CreditAccount]:
        """The accounts whose customer's name or note has words that begin with the text."""
        return accounts.filter(customer__in=Customer.objects.named(text, by_part=sees_whole_numbers()))

    def of_age(self, accounts: QuerySet[CreditAccount], _name: str, age: str) -> QuerySet[CreditAccount]:
        """The accounts whose oldest debt has this age; `due`: with any overdue debt; `today`: it is due today."""
        today = timezone.localdate()
        week, month = today - dt.timedelta(days=7), today - dt.timedelta(days=30)
        match age:
            case "due":
                return accounts.filter(oldest_due__lt=today)
            case "today":
                return accounts.filter(oldest_due=today)
            case Age.NOT_DUE:
                return accounts.filter(oldest_due__gt=today)
            case Age.WEEK:
                return accounts.filter(oldest_due__lt=today, oldest_due__gte=week)
            case Age.MONTH:
                return accounts.filter(oldest_due__lt=week, oldest_due__gte=month)
        return accounts.filter(oldest_due__lt=month)
