"""How the activity log shows orders."""

from __future__ import annotations

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, name_facts
from audit.subjects import ANY, About, Seen, Subject, register
from core.rights import Right
from purchases.models import Order


class ByRefId(Subject):
    """Orders, and other rows with a ref_id; an unknown key is another subject."""

    def about(self, key: str, seen: Seen) -> About | None:
        """The ref_id."""
        return About(key, self.url(seen.reader, key), is_code=True) if key in seen.rows else None


name_facts(number=Fact(pgettext_lazy("audit", "Print no.")))
register(Subject("verdict", pgettext_lazy("audit", "Decision no. %(number)s")))
for name in ("order", "file"):
    register(ByRefId(name, "", "order_detail", Right.VIEW_ORDERS, model=Order, by="ref_id", keys=ANY))
