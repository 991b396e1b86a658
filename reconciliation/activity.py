"""How the activity log shows adjustments of the books."""

from django.utils.translation import pgettext_lazy

from audit.subjects import Subject, register

register(Subject("adjustment", pgettext_lazy("audit", "Adjustment no. %(number)s")))
