"""The reasons why a destination, a rule or a public link is refused, or the catalogue was not fetched."""

import datetime as dt
from typing import Any

from django.utils.translation import gettext_lazy as _

from catalogue.models import SyncFault
from core.errors import ForReason, Refused


class CatalogueFault(Exception):
    """The catalogue could not be fetched or was invalid; the last good one is still in place.

    `detail`: the words of the upstream or the database. `not_before`: the time from which the rate limits allow the
    next try.
    """

    def __init__(self, code: SyncFault, detail: str = "", *, not_before: dt.datetime | None = None) -> None:
        self.code, self.detail, self.not_before = code, detail, not_before
        super().__init__(code, detail)

    def __str__(self) -> str:
        return f"{self.code.label} {self.detail}".rstrip()


class RuleRefused(ForReason):
    """No price was changed; `reason` is "same", "moved", "gone" or "no_reason"."""

    texts = {
        "same": _("The rule is the same as before. No price has changed."),
        "moved": _("Costs or rules have changed since you saw these prices. Check them again."),
        "gone": _("The rule's product, brand or category is no longer there."),
        "no_reason": _("Something would sell below cost: write a reason for the approver."),
    }


class NeedsSecondPerson(Refused):
    """A product would sell below cost. `content`: the content that a second person has to approve first."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        super().__init__(_("Something would sell below cost: a second person has to approve it first."))


class PublicListRefused(ForReason):
    """The public page of the prices was not changed; `reason` is "changed" or "not_agreed"."""

    texts = {
        "changed": _(
            "Nothing was changed: this form was sent before, or somebody else was faster. The newest link works, "
            "and was shown only once. If you do not have it, make a new one below."
        ),
        "not_agreed": _("Nothing was changed. A new link ends the old one: tick that it may end."),
    }
