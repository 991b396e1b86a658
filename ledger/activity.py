"""Shows files of the books in the activity log."""

from django.utils.translation import gettext_lazy as _

from audit.subjects import Place, register
from core.rights import Right

register(Place("file", _("Statement"), "statement", Right.VIEW_STATEMENT, Right.VIEW_COST, keys="statement"))
