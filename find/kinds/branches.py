"""The shop's branches by name."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from branches.seeing import names_branches
from branches.services import branch_names
from find.kinds.asked import Asked
from find.kinds.kind import Result


def branches(asked: Asked) -> Iterator[Result]:
    """The branches whose names have words that begin with its words; each is a link to its figures on the overview."""
    if not (asked.may_name_in_part and names_branches()):
        return
    typed = asked.text.lower().split()
    for key, name in branch_names():
        if all(any(word.startswith(beginning) for word in name.lower().split()) for beginning in typed):
            yield Result(
                url=f"{reverse('overview')}?branch={key}", words=name, more=_("Figures of the branch"), icon="map-pin"
            )
