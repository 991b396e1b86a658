"""The people who have taken a piece of work. The work itself is the rows of other rooms."""

from django.db import models

from staff.models import User


class Taken(models.Model):
    """One person has said: I do this. It binds nobody, and ends after the time of a shift (`services.TAKEN_FOR`)."""

    kind = models.CharField(max_length=20, help_text="The code of a kind.")
    key = models.BigIntegerField(help_text="The row's key.")
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["kind", "key"], name="work_taken_by_one")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
