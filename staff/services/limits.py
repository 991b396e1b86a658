"""A person's limits: those of the role, each overridden by the person's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice

from django.db.models import Min

from core.rights import Right, Role
from staff.models import LIMITS, RoleLimits, User
from staff.services.guards import holders_of_any, may_manage

_MOST_HELPERS = 3


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Whole rupiah; None: any amount.

    `per_order` and `per_day` count the cost. An order needs a second person if what the customer pays, or the cost if
    that is higher, is above `approval_above`.
    """

    per_order: int | None = None
    per_day: int | None = None
    approval_above: int | None = None

    def is_within(self, other: Limits) -> bool:
        """Whether none of these limits is higher than the other's."""
        pairs = zip(asdict(self).values(), asdict(other).values(), strict=True)
        return all(most is None or (value is not None and value <= most) for value, most in pairs)


def limits_of(person: User, *, role: Limits | None = None) -> Limits:
    """This person's limits; no query for the person of a request.

    Each is the person's own limit, else the role's (`role`, where it is known), and the lowest if there are several
    roles.
    """
    own, of_role = asdict(own_limits_of(person)), _of_role(person) if role is None else asdict(role)
    return Limits(**{name: of_role[name] if own[name] is None else own[name] for name in LIMITS})


def read_role_limits(people: Iterable[User]) -> None:
    """Read the limits of these people's roles at once, so that `limits_of` needs no query; they come `with_rights`."""
    known = limits_of_roles()
    for person in people:
        roles = [Role.OWNER] if person.is_superuser else [role for role in Role if role in person.group_names]
        amounts = [[getattr(known[role], name) for role in roles] for name in LIMITS]
        person.role_limits = [min((most for most in some if most is not None), default=None) for some in amounts]


def own_limits_of(person: User) -> Limits:
    """The person's own limits; None: those of the role."""
    return Limits(**{name: getattr(person, f"own_{name}") for name in LIMITS})


def limits_of_roles() -> dict[Role, Limits]:
    stored = {row.role: Limits(**{name: getattr(row, name) for name in LIMITS}) for row in RoleLimits.objects.all()}
    return {role: stored.get(role.value, Limits()) for role in Role}


def lock_person(person: User) -> None:
    """Lock the person's row until the transaction ends, so that one person's acts happen one after the other."""
    User.objects.select_for_update(no_key=True).only("pk").get(pk=person.pk)


def names_of_helpers(person: User) -> list[str]:
    """Up to three active colleagues who may change this person's limits, by their shown names."""
    colleagues = holders_of_any([Right.CHANGE_LIMITS]).exclude(pk=person.pk)
    helpers = (
        colleague.shown_name
        for colleague in colleagues.prefetch_related("groups")[:20]
        if may_manage(colleague, person)
    )
    return list(islice(helpers, _MOST_HELPERS))


def _of_role(person: User) -> dict[str, int | None]:
    if (known := getattr(person, "role_limits", None)) is not None:
        return dict(zip(LIMITS, known, strict=True))
    names = [Role.OWNER.value] if person.is_superuser else person.groups.values("name")
    lowest = RoleLimits.objects.filter(role__in=names).aggregate(**{name: Min(name) for name in LIMITS})
    return {name: lowest[name] for name in LIMITS}
