"""The reasons why the policies were not changed."""

from typing import Any

from django.utils.translation import gettext as _

from core.errors import Refused


class LooserNeedsTwo(Refused):
    """A check would be looser. `content`: the content that a second person has to approve first."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        super().__init__(_("This makes a check looser: a second person has to approve it first."))


class NoReason(Refused):
    """A request to a second person needs a reason."""

    def __init__(self) -> None:
        super().__init__(_("This makes a check looser: write a reason for the approver."))
