"""Shows the shop's settings in the activity log."""

from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.facts import Fact, name_facts
from audit.subjects import Place, register
from core.rights import Right

name_facts(
    address=Fact(pgettext_lazy("audit", "Address")),
    first_steps=Fact(pgettext_lazy("audit", "First steps")),
    footer=Fact(pgettext_lazy("audit", "Footer")),
    language=Fact(pgettext_lazy("audit", "Language")),
    logo=Fact(pgettext_lazy("audit", "Logo no.")),
    paper=Fact(pgettext_lazy("audit", "Paper")),
    phone=Fact(pgettext_lazy("audit", "Phone")),
)
register(Place("setting", _("The shop's settings"), "shop_settings", Right.CHANGE_SHOP, keys="shop"))
