"""Who is signed in, and what that person may do: one query for each request, where Django makes three."""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend

from staff.models import User

_PERSON = """
    SELECT person.*, ARRAY(
        SELECT kind.app_label || '.' || permission.codename
        FROM auth_permission permission JOIN django_content_type kind ON kind.id = permission.content_type_id
        WHERE permission.id IN (
            SELECT own.permission_id FROM staff_user_user_permissions own WHERE own.user_id = person.id
            UNION ALL
            SELECT role.permission_id FROM auth_group_permissions role
            JOIN staff_user_groups member ON member.group_id = role.group_id WHERE member.user_id = person.id
        )
    ) AS held
    FROM staff_user person WHERE person.id = %s
"""


class StaffBackend(AuthenticationBackend):  # type: ignore[misc]
    """Signs in as allauth does. The person of a request comes with the permissions that roles and people gave."""

    def get_user(self, user_id: int) -> User | None:
        """The person with this key, who may still sign in."""
        person = next(iter(User.objects.raw(_PERSON, [user_id])), None)
        return person if person is not None and self.user_can_authenticate(person) else None

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """What this person may do, e.g. "purchases.buy"; an admin may everything, as Django says."""
        held = getattr(user_obj, "held", None)
        if held is None or obj is not None or user_obj.is_superuser or not user_obj.is_active:
            found: set[str] = super().get_all_permissions(user_obj, obj)
            return found
        return set(held)
