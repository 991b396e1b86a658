"""What people and the provider wrote about the orders of an erased customer: it says neither number nor name."""

import pytest

from drawers.services import give_back
from purchases.models import Incident, Verdict
from purchases.states import Status
from staff.models import User
from testing.factories import make_check, make_order, make_payment, make_product
from testing.people import browser_of
from tests.customers.helpers import make_customer
from tests.customers.test_erasing import METER, NUMBER, TOKEN, erase, says, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return browser_of("admin", username="owner")


@pytest.fixture
def shop(owner):
    """A token with incidents and a declined decision, a refund that somebody noted, and a bill."""
    person = User.objects.get(username="owner")
    token = make_order(
        Status.SUCCESS, destination=METER, sn=TOKEN, product=make_product(category="token", name="PLN 20")
    )
    for detail in (f"another SN than {TOKEN!r} is reported: '9/BUDI SANTOSO/R1'", f"{TOKEN!r} is also the SN of B1"):
        Incident.objects.create(order=token, kind="doubled_sn", source="poll", detail=detail)
    said = {"evidence": "They wrote: BUDI SANTOSO has it", "reason": f"token for {METER}", "sn": f"8{TOKEN}"}
    Verdict.objects.create(order=token, order_status="unknown", outcome="success", proposed_by=person, **said)
    refund = make_order(Status.REVERSED, destination=NUMBER)
    give_back(refund.payment, method="transfer", note=f"to {NUMBER}", actor=person)
    bill = make_payment(make_check(destination=NUMBER), Status.SUCCESS)
    customer = make_customer("Bu Sari", (NUMBER, "phone"), (METER, "meter"))
    return {"customer": customer, "token": token, "refund": refund, "bill": bill}


def pages(shop):
    token, refund, bill = (shop[name].ref_id for name in ("token", "refund", "bill"))
    yield from (f"/orders/{ref}/" for ref in (token, refund, bill))
    yield from (f"/orders/{ref}/{page}" for ref in (token, refund, bill) for page in ("story/", "panel/"))
    yield from (f"/orders/{ref}/story.json" for ref in (token, refund))
    yield "/refunds/?state=all"


def test_nothing_that_was_written_about_an_erased_order_names_its_customer(owner, shop):
    before = {address: says(text_of(owner, address)) for address in pages(shop)}

    erase(owner, shop["customer"])

    after = {address: says(text_of(owner, address)) for address in pages(shop)}
    assert {whole for wholes in before.values() for whole in wholes} == {NUMBER, METER, "BUDI SANTOSO", "SITI AMINAH"}
    assert {address: wholes for address, wholes in after.items() if wholes} == {}
