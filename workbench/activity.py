"""Shows files that were made of it, and of an order's full history in the activity log."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.facts import name_codes
from audit.subjects import ANY, About, Place, Seen, Subject, register
from core.rights import Right
from exports.listing import known_listing

name_codes(
    "list",
    proof=pgettext_lazy("audit", "proof of a full history"),
    story=pgettext_lazy("audit", "full history of an order"),
)


class FileOfList(Subject):
    """The list from which a file was made, by the list's name; other names belong to other subjects."""

    def about(self, key: str, seen: Seen) -> About | None:
        listing = known_listing(key)
        if listing is None:
            return None
        may_open = seen.reader.has_perms(listing.rights)
        return About(str(listing.words), reverse(f"{listing.page}_list") if may_open else "")


register(FileOfList("file", keys=ANY))
register(Place("file", _("Activity log"), "audit_list", Right.VIEW_AUDIT, keys="audit"))
