"""The drawer that a person usually opens."""

from django.db import models

from drawers.models.shifts import Drawer
from staff.models import User


class UsualDrawer(models.Model):
    """The drawer that a person is offered first; a preference, which blocks nobody else.

    It counts while the drawer is in use and in the person's branch. Only `drawers.services` writes it.
    """

    person = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="usual_drawer")
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="usual_of")

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.person_id} at {self.drawer_id}"
