"""Texts of people and the provider about an erased customer's orders show neither number nor name."""

import pytest

from batches.models import Batch, BatchRow
from branches.models import FIRST
from drawers.services import PaymentFacts, change_payment, give_back
from purchases.models import Incident, Order, Verdict
from purchases.states import Status
from staff.models import User
from testing.factories import make_check, make_order, make_payment, make_product
from testing.people import browser_of, make_person
from tests.customers.helpers import METER, NUMBER, TOKEN, erase, make_customer, says, text_of
from tests.drawers.helpers import begin, end, sell

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return browser_of("admin", username="owner")


@pytest.fixture
def shop(owner):
    """A token with incidents and a declined decision, a noted refund, and a bill."""
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


def test_a_slip_with_the_number_on_it_shows_and_finds_nothing_of_an_erased_order(owner):
    # given: the customer's number is in the field of the slip's number
    shift, slip = begin(make_person("cashier")), PaymentFacts(method="transfer", reference=NUMBER)
    sold = end(sell(shift.cashier, destination=NUMBER, payment=slip), "success")
    customer, order, till = (
        make_customer("Bu Sari", (NUMBER, "phone")),
        f"/orders/{sold.ref_id}/",
        f"/shifts/{shift.pk}/",
    )
    addresses = [order, f"{order}receipt/", till, f"{till}csv/"]
    before = [says(text_of(owner, address)) for address in addresses]

    erase(owner, customer)

    assert before == [[NUMBER]] * 3 + [[]], "a file has no whole number"
    assert [says(text_of(owner, address)) for address in addresses] == [[]] * 4
    assert len(owner.get(f"/orders/?q={NUMBER}").context["table"].rows) == 0


def test_a_number_on_a_corrected_slip_is_masked_in_the_log(owner):
    shift, auditor = begin(make_person("cashier")), browser_of("auditor")
    order = sell(shift.cashier, destination=NUMBER)
    change_payment(order.payment, method="transfer", reference=f"BCA {NUMBER}", actor=shift.cashier)
    end(order, "success")
    log = f"/audit/?q={order.ref_id}"
    before = [says(text_of(reader, log)) for reader in (owner, auditor)]
    files = [says(text_of(reader, f"/audit/csv/?q={order.ref_id}")) for reader in (owner, auditor)]

    erase(owner, make_customer("Bu Sari", (NUMBER, "phone")))

    assert (before, files) == ([[NUMBER], []], [[], []])
    assert [says(text_of(reader, log)) for reader in (owner, auditor)] == [[], []]
    assert "BCA 0812•••••001" in text_of(auditor, log)


def test_a_batch_says_nothing_of_an_erased_number_in_its_references(owner):
    person = User.objects.get(username="owner")
    order = make_order(Status.SUCCESS, destination=NUMBER, placed_by=person)
    batch = Batch.objects.create(branch_id=FIRST, sha256="0" * 64, created_by=person)
    facts = {"state": "placed", "destination": NUMBER, "product": order.product, "max_price": 1, "selling_price": 1}
    BatchRow.objects.create(batch=batch, line=1, ref_id="B-1", reference=f"INV {NUMBER}", order=order, **facts)
    customer, rows = make_customer("Bu Sari", (NUMBER, "phone")), "/batches/rows/"
    before = says(text_of(owner, rows)), len(owner.get(f"{rows}?q={NUMBER}").context["table"].rows)

    erase(owner, customer)

    whole = b"".join(owner.confirm(f"{rows}file/whole/", {"format": "csv"}).streaming_content).decode()
    assert before == ([NUMBER], 1)
    assert says(text_of(owner, rows)) == says(whole) == []
    assert "INV 0812•••••001" in whole
    found = [len(owner.get(f"{rows}?q={text}").context["table"].rows) for text in (NUMBER, "7770001", f"INV {NUMBER}")]
    assert found == [0, 0, 1]


def test_what_was_written_in_a_row_whose_order_was_placed_meanwhile_is_not_seen(owner):
    # given: the texts of the customer were emptied just before the order of this row was placed
    order = make_order(Status.SUCCESS, destination=NUMBER, placed_by=User.objects.get(username="owner"))
    batch = Batch.objects.create(branch_id=FIRST, sha256="0" * 64, created_by=order.placed_by)
    facts = {"state": "placed", "destination": NUMBER, "product": order.product, "max_price": 1, "selling_price": 1}
    texts = {"typed": f"+62{NUMBER[1:]}", "name": "BUDI SANTOSO", "note": f"at {NUMBER}"}
    BatchRow.objects.create(batch=batch, line=1, ref_id="B-1", order=order, **facts, **texts)
    rows = "/batches/rows/"
    before = says(text_of(owner, rows))

    Order.objects.filter(pk=order.pk).forget_number()

    whole = b"".join(owner.confirm(f"{rows}file/whole/", {"format": "csv"}).streaming_content).decode()
    assert before == [NUMBER, "BUDI SANTOSO"]
    assert says(text_of(owner, rows)) + says(whole) == []
    assert NUMBER[1:] not in text_of(owner, rows)
    assert len(owner.get(f"{rows}?q=budi").context["table"].rows) == 0
