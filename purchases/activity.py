"""Shows orders in the activity log."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, money, name_facts
from audit.subjects import ANY, About, Rows, Seen, Subject, register
from core.numbers import ErasedText
from core.rights import Right
from purchases.models import Order


class ByRefId(Subject):
    """Subjects that are named by a ref_id. None if no order has it: the next subject of that name is tried."""

    def about(self, key: str, seen: Seen) -> About | None:
        return About(key, self.url(seen.reader, key), is_code=True) if key in seen.rows else None

    def numbers(self, key: str, rows: Rows) -> set[str]:
        number = rows[key].destination if key in rows else ""
        return {number} if isinstance(number, ErasedText) else set()


name_facts(
    number=Fact(pgettext_lazy("audit", "Print no.")),
    tag=Fact(pgettext_lazy("audit", "Tag")),
    # what an approval of a sale holds
    cash_given=Fact(pgettext_lazy("audit", "Cash given"), money),
    confirm_repeat=Fact(pgettext_lazy("audit", "A repeat")),
    destination=Fact(pgettext_lazy("audit", "Customer's number")),
    idempotency_key=Fact(pgettext_lazy("audit", "Key of the form")),
    lacks=Fact(pgettext_lazy("audit", "Is missing")),
    max_price=Fact(pgettext_lazy("audit", "Most to pay"), money),
    payment=Fact(pgettext_lazy("audit", "Payment")),
    price=Fact(pgettext_lazy("audit", "Cost"), money),
    product_code=Fact(pgettext_lazy("audit", "Product code")),
    product_name=Fact(pgettext_lazy("audit", "Product")),
    ref_id=Fact(pgettext_lazy("audit", "Order")),
    reference=Fact(pgettext_lazy("audit", "Number on the slip")),
    selling_price=Fact(pgettext_lazy("audit", "Selling price"), money),
    wait_for_topup=Fact(pgettext_lazy("audit", "Waits for a top-up")),
)
register(Subject("verdict", pgettext_lazy("audit", "Decision no. %(number)s")))
for name in ("order", "file"):
    register(ByRefId(name, "", "order_detail", Right.VIEW_ORDERS, model=Order, by="ref_id", keys=ANY))
