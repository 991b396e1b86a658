"""A sale, and a bill, go from the click to the row through the five files that docs/architecture.md walks through."""

import re
import traceback
from pathlib import Path

import pytest

from drawers.models import Payment
from purchases.models import Order
from purchases.services import moving
from testing.factories import make_check, make_product
from testing.orders import confirm, review
from tests.core.helpers import hidden

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("costs_shown")]

ROOT = Path(__file__).resolve().parents[2]
# the middleware and the guard of every page are not part of a sale
OF_A_SALE = re.compile(r"(counter|bills|purchases|drawers|credit|customers|catalogue|ledger)/.*\.py")


@pytest.fixture
def walk(monkeypatch):
    """The files that the call has gone through when the payment is stored, in their order."""
    walked = []

    def take_payment(*args, **kwargs):
        stack = [Path(frame.filename) for frame in traceback.extract_stack()]
        walked.extend(str(path.relative_to(ROOT)) for path in stack if path.is_relative_to(ROOT))
        return take(*args, **kwargs)

    take = moving.drawers.take_payment
    monkeypatch.setattr(moving.drawers, "take_payment", take_payment)
    last = take.__module__.replace(".", "/") + ".py"
    return lambda: [*(path for path in dict.fromkeys(walked) if OF_A_SALE.fullmatch(path)), last]


def documented(pattern: str) -> list[str]:
    section = (ROOT / "docs/architecture.md").read_text().split("## One sale", 1)[1].split("\n## ", 1)[0]
    return re.findall(pattern, section, re.MULTILINE)


def test_a_sale_goes_through_five_files(cashier, walk):
    product = make_product()

    confirm(cashier, product, hidden(review(cashier, product)))

    assert walk() == documented(r"^\| `([\w/]+\.py)`")
    assert len(walk()) == 5
    assert Order.objects.get().payment == Payment.objects.get()


def test_a_bill_goes_through_five_files(cashier, walk):
    check = make_check()

    cashier.post(f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total})

    assert walk() == [
        *documented(r"A bill comes by `([\w/.]+)`\s`\w+` and `([\w/.]+)`")[0],
        *documented(r"^\| `([\w/]+\.py)`")[2:],
    ]
    assert len(walk()) == 5
    assert Order.objects.get().payment == Payment.objects.get()
