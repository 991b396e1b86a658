"""The upstream refuses our account."""

from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at
from alerts.models import Severity
from core.rights import Right
from gateway.models import UpstreamAccount


class AccountRefused(AlertKind, permission=Right.VIEW_ORDERS, is_in_banner=True):
    """Wrong credentials, an inactive account, or an IP address that is not allowed: nothing is sent."""

    def reasons(self, now: Now) -> list[Reason]:
        account = now.the(UpstreamAccount)
        if account.refused_since is None:
            return []
        facts = {"error_code": account.refused_code, "since": account.refused_since.isoformat()}
        return [Reason(severity=Severity.CRITICAL, facts=facts)]

    def words(self, facts: Facts, person: Person) -> Words:
        return Words(
            title=_("The provider refuses our account (%(code)s).") % {"code": facts.get("error_code", "?")},
            facts=_("Nothing has been sent since %(since)s; new orders wait.") % {"since": at(facts, "since")},
            next_step=_(
                "An admin has to correct the credentials, or the account or allowed IP address at the provider."
            ),
        )
