"""The signed-in person with rights and limits: one query for each request; Django makes three."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.db import connection

from core.rights import OF_THE_SHOP
from staff.models import User

PERSON = """
    SELECT person.*, ARRAY(
        SELECT kind.app_label || '.' || permission.codename
        FROM auth_permission permission JOIN django_content_type kind ON kind.id = permission.content_type_id
        WHERE permission.id IN (
            SELECT own.permission_id FROM staff_user_user_permissions own WHERE own.user_id = person.id
            UNION ALL
            SELECT role.permission_id FROM auth_group_permissions role
            JOIN staff_user_groups member ON member.group_id = role.group_id WHERE member.user_id = person.id
        )
    ) AS held, group_names, (
        SELECT ARRAY[min(per_order), min(per_day), min(approval_above)] FROM staff_rolelimits
        WHERE CASE WHEN person.is_superuser THEN role = 'owner' ELSE role = ANY(group_names) END
    ) AS role_limits, ARRAY(
        SELECT factor.type FROM mfa_authenticator factor
        WHERE factor.user_id = person.id AND factor.type <> 'recovery_codes'
    ) AS factors
    FROM staff_user person CROSS JOIN LATERAL (
        SELECT ARRAY(
            SELECT role.name::text FROM auth_group role JOIN staff_user_groups member ON member.group_id = role.id
            WHERE member.user_id = person.id
        ) AS group_names
    ) roles
    WHERE person.id = %s
"""


class StaffBackend(AuthenticationBackend):  # type: ignore[misc]
    """Signs in as allauth does. The person of a request comes with the permissions that roles and people gave."""

    def get_user(self, user_id: int) -> User | None:
        """The person with this key, if they may still sign in."""
        person = _read(user_id)
        return person if person is not None and self.user_can_authenticate(person) else None

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """This person's rights, e.g. "purchases.buy"; an admin has every right, as Django says.

        A person bound to a branch holds no right that concerns the whole shop."""
        held = getattr(user_obj, "held", None)
        if held is None or obj is not None or user_obj.is_superuser or not user_obj.is_active:
            permissions: set[str] = super().get_all_permissions(user_obj, obj)
        else:
            permissions = set(held)
        return permissions if getattr(user_obj, "bound_to", None) is None else permissions - OF_THE_SHOP


def _read(user_id: int) -> User | None:
    """The same as `User.objects.raw(PERSON, …)`, at a third of its CPU time."""
    with connection.cursor() as cursor:
        cursor.execute(PERSON, [user_id])
        row = cursor.fetchone()
        names = [column.name for column in cursor.description]
    if row is None:
        return None
    values = dict(zip(names, row, strict=True))
    columns = [field.attname for field in User._meta.concrete_fields]
    person = User.from_db(connection.alias, columns, [values.pop(column) for column in columns])
    for name, value in values.items():
        setattr(person, name, value)
    return person
