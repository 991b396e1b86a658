"""The words of facts that several rooms record, for the activity log."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, money, name_facts

name_facts(
    amount=Fact(pgettext_lazy("audit", "Amount"), money),
    before=Fact(pgettext_lazy("audit", "Before"), money),
    **{"from": Fact(pgettext_lazy("audit", "From no."))},
    name=Fact(pgettext_lazy("audit", "Name")),
    reason=Fact(pgettext_lazy("audit", "Reason")),
)
