"""The branch of an entry of credit, for figures of one branch."""

from django.db.models import BigIntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from credit.models import CreditEntry
from drawers.models import Payment
from staff.models import UserHistory


def credit_of_branch(entries: QuerySet[CreditEntry], branch: int | None) -> QuerySet[CreditEntry]:
    """Those of these entries that belong to the branch with this key; all of them for None."""
    if branch is None:
        return entries
    own_row = CreditEntry.objects.filter(pk=OuterRef("pk")).annotate(home=_before_the_column())
    # PostgreSQL reads the second value only for entries without the first.
    home = Coalesce("branch", Subquery(own_row.values("home")), output_field=BigIntegerField())
    return entries.alias(home=home).filter(home=branch)


def _before_the_column() -> Coalesce:
    """The branch of an entry that has none: of an earlier version, because a sealed row never changes.

    It is that of the order, else of the drawer of the money, else of the person at that time: facts that no later move
    changes. An undone payment and its undoing have the same. The copied rows of a benchmark have no history: there the
    person's branch counts.
    """
    return Coalesce(
        Subquery(Payment.objects.filter(ref_id=OuterRef("ref_id")).values("branch")[:1]),
        "drawer_entry__shift__day__branch",
        "drawer_entry__shift__drawer__branch",
        "undoes__drawer_entry__shift__day__branch",
        "undoes__drawer_entry__shift__drawer__branch",
        _of_person("undoes__"),
        "undoes__person__branch",
        _of_person(),
        "person__branch",
        output_field=BigIntegerField(),
    )


def _of_person(path: str = "") -> Subquery:
    """The branch of the entry's person when it was entered. `path`: the lookup to that entry ("undoes__")."""
    copies = UserHistory.objects.filter(pgh_obj=OuterRef(f"{path}person"), txid__lte=OuterRef(f"{path}txid"))
    return Subquery(copies.order_by("-pgh_id").values("branch")[:1])
