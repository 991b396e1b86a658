"""No digest gives a hidden number away: somebody could compute it for one number after another."""

import hashlib
import json

import pytest

from approvals.models import Approval
from batches.models import Batch
from callbacks.models import Callback
from purchases.states import Status
from staff.models import User
from testing.factories import make_order, make_product
from testing.people import Browser, browser_of, make_person
from tests.approvals.helpers import approve, ask_purchase
from tests.batches.helpers import checked
from tests.core.helpers import has_id
from tests.customers.helpers import erase, make_customer
from tests.roles.helpers import text_of

pytestmark = pytest.mark.django_db

NUMBER = "081298765432"


@pytest.fixture
def approval() -> Approval:
    """An approved sale to the number."""
    asker = make_person("supervisor", username="leader", own_approval_above=10_000)
    return approve(ask_purchase(asker, NUMBER), make_person("admin", username="second"))


def places(approval: Approval) -> list[str]:
    return [approval.get_absolute_url(), "/audit/csv/", f"/orders/{approval.result}/story.json"]


def shows(browser: Browser, approval: Approval) -> list[bool]:
    return [approval.sha256 in text_of(browser.get(place)) for place in places(approval)]


def test_without_the_right_or_after_erasing_no_digest_of_an_approved_number_is_shown(approval):
    auditor, owner = browser_of("auditor"), browser_of("admin", username="owner")

    assert shows(auditor, approval) == [False] * 3
    assert not has_id(auditor.get(approval.get_absolute_url()), "sha256")
    # the files mask the number for everybody, and the files with whole numbers have the digest
    assert shows(owner, approval) == [True, False, False]
    whole = [
        ("/audit/whole/", {"format": "csv"}),
        (f"/orders/{approval.result}/story/whole/", {"file": "story"}),
    ]
    assert [approval.sha256 in text_of(owner.confirm(*file)) for file in whole] == [True, True]

    erase(owner, make_customer("Bu Sari", (NUMBER, "phone")))
    assert shows(owner, approval) == [False] * 3


def test_no_masked_file_has_the_digest_of_a_callback_with_a_number():
    order = make_order(Status.SUCCESS, destination=NUMBER)
    body = json.dumps({"ref_id": order.ref_id, "destination": NUMBER}).encode()
    digest = hashlib.sha256(body).hexdigest()
    Callback.objects.create(body=body, content_hash=digest, headers={}, ref_id=order.ref_id, event="e", is_signed=True)
    address = f"/orders/{order.ref_id}/story"

    assert digest not in text_of(browser_of("auditor").get(f"{address}.json"))
    assert digest in text_of(browser_of("admin").confirm(f"{address}/whole/", {"file": "story"}))


def test_the_digest_of_a_batchs_rows_is_found_by_nobody_who_tries_numbers():
    product = make_product()
    seller = browser_of("supervisor", username="seller")
    batch = checked(f"destination,product\n{NUMBER},{product.code}\n", User.objects.get(username="seller"))

    page = text_of(seller.get(f"/batches/{batch.pk}/"))

    assert 'name="seal"' in page
    assert plain_digest_of(batch) not in page


def plain_digest_of(batch: Batch) -> str:
    """What everybody can compute who knows the rows."""
    names = ("line", "ref_id", "product__code", "destination", "max_price", "selling_price", "is_repeat_meant")
    rows = list(batch.rows.order_by("line").values_list(*names))
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()
