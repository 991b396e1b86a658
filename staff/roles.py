"""Who may do what, and the demo staff of the sandbox."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from staff.models import User


class Role(models.TextChoices):
    """The roles, lowest first: who is no owner gives lower ones. Owners are superusers; the others are groups."""

    CASHIER = "cashier", _("Cashier")
    AUDITOR = "auditor", _("Auditor")
    ADMINISTRATOR = "administrator", _("Administrator")
    OWNER = "owner", _("Owner")

    @property
    def rank(self) -> int:
        """Its place in the order, from 0."""
        return list(Role).index(self)


NO_RANK = -1


def role_of(person: User) -> Role | None:
    """The highest role of this person; None for somebody without any."""
    if person.is_superuser:
        return Role.OWNER
    names = {group.name for group in person.groups.all()}
    return next((role for role in reversed(Role) if role in names), None)


def rank_of(person: User) -> int:
    """The rank of this person's role; `NO_RANK` without one."""
    role = role_of(person)
    return NO_RANK if role is None else role.rank


def roles_given_by(person: User) -> list[Role]:
    """The roles that this person may give, lowest first: an owner all, others those below the own one.

    Who could give the own role could approve with a second account what the first one proposed.
    """
    rank = rank_of(person)
    return [role for role in Role if person.is_superuser or role.rank < rank]


def give_role(person: User, role: Role) -> None:
    """Make this the person's only role. Groups that are no role stay."""
    person.is_superuser = person.is_staff = role is Role.OWNER
    person.save(update_fields=["is_superuser", "is_staff"])
    person.groups.remove(*Group.objects.filter(name__in=ROLES))
    if role in ROLES:
        person.groups.add(Group.objects.get(name=role))


# Group → what its members may do, as "app_label.codename". Owners are superusers and may do everything.
ROLES: dict[str, tuple[str, ...]] = {
    "cashier": (
        "catalogue.view_product",
        "catalogue.view_pricechange",
        "catalogue.sync_catalogue",
        "gateway.read_balance",
        "purchases.view_order",
        "purchases.buy",
        "bills.view_billcheck",
        "bills.check_bill",
        "ledger.view_books",
        "customers.view_customer",
        "customers.add_customer",
        "customers.change_customer",
        "customers.delete_customer",
    ),
    "auditor": (
        "catalogue.view_product",
        "catalogue.view_pricechange",
        "purchases.view_order",
        "purchases.view_incident",
        "bills.view_billcheck",
        "callbacks.view_callback",
        "ledger.view_books",
        "ledger.view_entry",
        "reconciliation.view_difference",
        "reconciliation.view_reconciliationrun",
        "alerts.view_alert",
    ),
}
ROLES["administrator"] = (
    *dict.fromkeys((*ROLES["cashier"], *ROLES["auditor"])),
    "purchases.resolve_order",
    "purchases.decide_order",
    "callbacks.process_callback",
    "ledger.adjust_balance",
    "reconciliation.acknowledge_difference",
    "staff.manage_staff",
)
DEMO_STAFF = {
    "cashier": {"group": "cashier", "first_name": "Kasir", "last_name": "Demo"},
    "auditor": {"group": "auditor", "first_name": "Auditor", "last_name": "Demo"},
    "admin": {"group": "", "first_name": "Admin", "last_name": "Demo"},
    # what one admin proposes for the books, another has to approve
    "owner": {"group": "", "first_name": "Owner", "last_name": "Demo"},
}


@transaction.atomic
def set_up_roles() -> None:
    """Make the groups with exactly the permissions of `ROLES`; members stay members."""
    for name, wanted in ROLES.items():
        group, _is_new = Group.objects.get_or_create(name=name)
        permissions = [_permission(full_name) for full_name in wanted]
        group.permissions.set(permissions)


def _permission(full_name: str) -> Permission:
    app_label, codename = full_name.split(".")
    return Permission.objects.get(content_type__app_label=app_label, codename=codename)


@transaction.atomic
def create_demo_staff() -> None:
    """With the sandbox: everybody of `DEMO_STAFF`, password "<name>-demo"; with a real upstream: all switched off.

    People who are not demo staff are never touched, not even one who happens to have such a name.
    """
    if not settings.SANDBOX:
        User.objects.filter(is_demo=True).update(is_active=False)
        return
    for username, facts in DEMO_STAFF.items():
        is_admin = not facts["group"]
        user, is_new = User.objects.get_or_create(
            username=username,
            defaults={
                "first_name": facts["first_name"],
                "last_name": facts["last_name"],
                "is_demo": True,
                "is_staff": is_admin,
                "is_superuser": is_admin,
            },
        )
        if not user.is_demo:
            continue
        if is_new:
            user.set_password(f"{username}-demo")
        user.is_active = True
        user.save(update_fields=["password", "is_active"])
        if facts["group"]:
            user.groups.add(Group.objects.get(name=facts["group"]))
