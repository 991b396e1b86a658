"""Who may do what, and the demo staff of the sandbox."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.db import transaction

from staff.models import User

# Group → what its members may do, as "app_label.codename". Admins are superusers and may do everything.
ROLES = {
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
