"""Checked bills by the last digits of the customer number, or ref_id."""

from collections.abc import Iterator

from bills.lists import PAID_IN, read_checks
from bills.models import BillCheck
from bills.states import Standing
from bills.templatetags.bills import name_or_reason
from branches.seeing import narrowed
from core.money import rupiah
from core.times import short_time
from find.kinds.asked import Asked
from find.kinds.kind import Result


def bills(asked: Asked) -> Iterator[Result]:
    """The newest checks that it names."""
    if not asked.may_name_a_row:
        return
    seen = narrowed(BillCheck.objects.all(), PAID_IN, with_shop=True)
    matches = seen.matching(asked.name, by_part=asked.by_part, closely=True)
    keys = list(matches.order_by("-created_at", "-pk").values_list("pk", flat=True)[: asked.most])
    # Reading the facts of a check for its line takes a long query, and most texts name no check.
    for check in read_checks(keys) if keys else ():
        state = Standing(check.now_standing).state
        more = [
            check.product.kind.as_seen(check.destination),
            name_or_reason(check),
            rupiah(check.to_pay) if check.to_pay else "",
            str(state.label),
            short_time(check.created_at),
        ]
        yield Result(
            url=check.get_absolute_url(),
            words=check.product_name,
            more=" · ".join(filter(None, more)),
            icon=state.look.icon,
            colour=state.look.colour,
        )
