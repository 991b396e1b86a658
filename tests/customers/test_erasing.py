"""After a customer is erased, nobody sees the whole numbers of their orders and bills."""

import json
import re

import pytest
from django.db import DatabaseError, connection, transaction
from django.forms.models import model_to_dict
from django.test.utils import CaptureQueriesContext

from approvals.models import Approval
from audit.models import AuditEvent
from audit.services import verify
from bills.models import BillCheck
from customers.events import CUSTOMER_ERASED
from customers.models import SavedNumber
from exports.models import SavedView
from purchases.events import FULL_NUMBER_SEEN
from purchases.models import Order, OrderHistory, OrderNote
from purchases.states import Status
from staff.models import User
from testing.factories import make_check, make_order, make_payment, make_product
from testing.orders import report
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import approve
from tests.audit.helpers import seal_all
from tests.bills.helpers import expire
from tests.core.helpers import codes, has_id
from tests.credit.helpers import give_credit, owed_by, sell_to
from tests.customers.helpers import METER, NUMBER, TOKEN, erase, make_customer, says, text_of

pytestmark = pytest.mark.django_db

OTHER = "081299990002"


@pytest.fixture
def owner():
    return browser_of("admin", username="owner")


@pytest.fixture
def shop(owner):
    """A customer with three orders, a complaint, a refund due and a bill; and one order of another customer."""
    person = User.objects.get(username="owner")
    customer = make_customer("Bu Sari", (NUMBER, "phone"), (METER, "meter"))
    sold = make_order(Status.SUCCESS, destination=NUMBER, placed_by=person, sn=f"R231.{NUMBER}", trx_id="T-1")
    token = make_order(
        Status.SUCCESS,
        destination=METER,
        placed_by=person,
        sn=TOKEN,
        product=make_product(category="token", name="PLN 20"),
    )
    failed = make_order(
        Status.REVERSED, destination=NUMBER, placed_by=person, product=make_product(name="Telkomsel 5.000")
    )
    make_order(Status.SUCCESS, destination=OTHER, placed_by=person)
    OrderNote.objects.create(order=sold, author=person, text=f"asked for {NUMBER} again")
    owner.post(f"/complaints/{sold.ref_id}/open/", {"words": f"nothing on {NUMBER}", "hours": "4"})
    bill = make_payment(make_check(destination=NUMBER), Status.SUCCESS)
    return {"customer": customer, "sold": sold, "token": token, "failed": failed, "bill": bill}


def pages(shop):
    sold, token, failed, bill = (shop[name].ref_id for name in ("sold", "token", "failed", "bill"))
    yield from (
        "/orders/",
        "/orders/?columns=product,destination,sn",
        "/",
        "/refunds/?state=all",
        "/work/",
        "/complaints/",
    )
    yield from (f"/orders/{ref}/" for ref in (sold, token, failed, bill))
    yield from (f"/orders/{ref}/receipt/" for ref in (sold, token, bill))
    yield from (f"/orders/{sold}/panel/", f"/orders/{sold}/story/", f"/orders/{sold}/story.json", f"/arrived/?q={sold}")
    yield from (f"/find/?q={sold}", "/counter/", "/bills/", f"/bills/{bill}/", "/bills/?columns=product,destination,sn")


def test_no_page_shows_the_number_of_an_erased_customer_to_an_owner(owner, shop):
    before = {whole for address in pages(shop) for whole in says(text_of(owner, address))}

    erase(owner, shop["customer"])

    assert before == {NUMBER, METER, "BUDI SANTOSO", "SITI AMINAH"}
    shown = {address: says(text_of(owner, address)) for address in pages(shop)}
    assert {address: wholes for address, wholes in shown.items() if wholes} == {}
    assert "0812-••••-•001" in text_of(owner, f"/orders/{shop['sold'].ref_id}/")
    assert "0812-9999-0002" in text_of(owner, "/orders/")
    # then: the activity log has the erasure without the name, and the database never takes a mask away
    event = AuditEvent.objects.get(kind=CUSTOMER_ERASED.key)
    assert event.subject == f"customer {shop['customer'].pk}"
    assert "Sari" not in json.dumps(event.facts)
    assert not SavedNumber.objects.exists()
    for model in (Order, BillCheck):
        with pytest.raises(DatabaseError), transaction.atomic():
            model.objects.filter(number_erased=True).update(number_erased=False)


def test_a_file_with_whole_numbers_masks_those_of_the_erased_and_own_names_still_find_an_order(owner, shop):
    erase(owner, shop["customer"])

    for name in ("orders", "bills", "complaints"):
        plain = text_of(owner, f"/{name}/file/?format=csv")
        whole = b"".join(owner.confirm(f"/{name}/file/whole/", {"format": "csv"}).streaming_content).decode()

        assert says(plain) + says(whole) == [], name
        assert "0812•••••001" in whole, name
        assert (OTHER in whole) is (name == "orders")

    def found(text: str) -> list[str]:
        return [order.ref_id for order in owner.get(f"/orders/?q={text}").context["table"].rows]

    sold = shop["sold"].ref_id
    assert [found(text) for text in ("T-1", sold, sold[-6:])] == [[sold]] * 3
    assert found("12345678901234567890") == [shop["token"].ref_id]

    # then: a later order for the number is shown whole
    later = make_order(Status.SUCCESS, destination=NUMBER)
    assert NUMBER in says(text_of(owner, f"/orders/{later.ref_id}/"))
    assert found(NUMBER) == [later.ref_id]


def test_digits_and_name_find_no_order_or_bill_of_the_erased(owner, shop):
    queries = [
        *(
            f"/orders/?q={text}"
            for text in (NUMBER, "0812777", "7770001", METER, f"R231.{NUMBER}"[:9], "asked 081277770001")
        ),
        *("/orders/?ends=0001", f"/bills/?q={NUMBER}", "/bills/?q=siti", f"/complaints/?q={NUMBER}"),
        f"/refunds/?state=all&q={NUMBER}",
    ]
    before = [len(owner.get(query).context["table"].rows) for query in queries]

    erase(owner, shop["customer"])
    back = make_customer("Bu Sari", (NUMBER, "phone"))

    assert 0 not in before
    assert [len(owner.get(query).context["table"].rows) for query in queries] == [0] * len(queries)
    assert len(owner.get(f"/orders/?customer={back.pk}").context["table"].rows) == 0
    assert shop["sold"].ref_id not in text_of(owner, f"/find/?q={NUMBER}")
    assert shop["sold"].ref_id not in text_of(owner, f"/arrived/?q={NUMBER}")


def test_nobody_sells_again_from_an_erased_order_or_opens_its_number(owner, shop):
    reveals = browser_of("auditor", username="reveals")
    address = f"/orders/{shop['sold'].ref_id}/"
    again = f"/counter/review/?again={shop['sold'].ref_id}"
    offered = has_id(owner.get(address), "order-again"), owner.get(again).status_code
    shown = has_id(reveals.get(address), "show-number")

    erase(owner, shop["customer"])

    assert (offered, shown) == ((True, 200), True)
    assert (has_id(owner.get(address), "order-again"), owner.get(again).status_code) == (False, 404)
    assert f"{shop['sold'].ref_id}/whatsapp/" not in text_of(owner, "/counter/")
    assert owner.get(f"/counter/orders/{shop['sold'].ref_id}/whatsapp/").status_code == 404
    assert not has_id(reveals.get(address), "show-number")
    assert says(reveals.post(f"{address}number/", follow=True).content.decode()) == []
    assert not AuditEvent.objects.filter(kind=FULL_NUMBER_SEEN.key).exists()
    assert "/numbers/save/" not in text_of(owner, address)


def test_nobody_checks_an_erased_bill_again(owner, shop):
    check = make_check(destination=NUMBER)
    expire(check)
    address = f"/counter/bills/{check.ref_id}/again/"
    offered = address in text_of(owner, f"/counter/bills/{check.ref_id}/")

    erase(owner, shop["customer"])
    refused = [owner.post(f"/counter/bills/{ref}/again/").status_code for ref in (check.ref_id, shop["bill"].ref_id)]

    assert (offered, address in text_of(owner, f"/counter/bills/{check.ref_id}/")) == (True, False)
    assert refused == [404, 404]
    assert not BillCheck.objects.filter(number_erased=False).exists()


def test_a_bill_that_is_paid_after_the_erasure_shows_no_number(owner, shop):
    checks = [make_check(destination=NUMBER) for _ in range(2)]
    erase(owner, shop["customer"])

    for check, own_limit in zip(checks, (None, 10_000), strict=True):
        person = make_person("cashier", username=f"own-{own_limit}", own_approval_above=own_limit)
        paid = signed_in(person).post(f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total})
        if own_limit:
            approval = Approval.objects.get()
            assert says(text_of(owner, approval.get_absolute_url())) == []
            approve(approval, User.objects.get(username="owner"))

        assert paid.status_code == 302
        assert Order.objects.filter(ref_id=check.ref_id, destination=NUMBER).exists()
        assert says(text_of(owner, f"/orders/{check.ref_id}/")) == []
        assert says(text_of(owner, f"/bills/{check.ref_id}/")) == []


def test_a_seller_hides_no_order_by_saving_its_number_and_deleting_it(owner, shop):
    customer = shop["customer"]
    for role in ("cashier", "supervisor"):
        seller = browser_of(role)

        asked = seller.get(f"/customers/{customer.pk}/delete/").content.decode()
        erase(seller, customer)

        assert "administrator or the owner" in asked
        assert not Order.objects.filter(number_erased=True).exists()
        assert not BillCheck.objects.filter(number_erased=True).exists()
        assert NUMBER in says(text_of(owner, f"/orders/{shop['sold'].ref_id}/"))
        assert shop["sold"].ref_id in text_of(owner, f"/orders/?q={NUMBER}")
        customer = make_customer("Bu Sari", (NUMBER, "phone"), (METER, "meter"))


def test_a_number_that_another_customer_has_stays_whole(owner, shop):
    make_customer("Pak Budi", (NUMBER, "phone"))

    erase(owner, shop["customer"])

    assert says(text_of(owner, f"/orders/{shop['sold'].ref_id}/")) == [NUMBER]
    assert says(text_of(owner, f"/orders/{shop['token'].ref_id}/")) == []


def test_erasing_leaves_the_money_the_sending_and_the_copies_as_they_were(owner, shop):
    running = make_order(Status.PENDING, destination=NUMBER, product=make_product(name="Telkomsel 50.000"))
    kept = {order.pk: model_to_dict(order, exclude=["number_erased", "tags"]) for order in Order.objects.all()}
    copies = OrderHistory.objects.count()

    erase(owner, shop["customer"])

    orders = {order.pk: model_to_dict(order, exclude=["number_erased", "tags"]) for order in Order.objects.all()}
    assert orders == kept
    assert OrderHistory.objects.count() == copies
    done = report(Order.objects.get(pk=running.pk), price=running.max_price, sn=f"SN/{NUMBER}")
    assert (done.status, done.incidents.count()) == (Status.SUCCESS, 0)
    stored = Order.objects.filter(pk=running.pk).values_list("destination", "sn", "number_erased").get()
    assert stored == (NUMBER, f"SN/{NUMBER}", True)
    assert says(text_of(owner, f"/orders/{running.ref_id}/")) == []


def test_a_customer_with_money_open_keeps_number_and_name(owner, shop):
    debtor = give_credit("Pak Tono")
    SavedNumber.objects.create(customer=debtor, destination=OTHER, kind="phone")
    sell_to(debtor, by=User.objects.get(username="owner"))

    erase(owner, debtor)

    assert owed_by(debtor) == 10_000
    assert debtor.numbers.count() == 1
    assert not Order.objects.filter(number_erased=True).exists()


def test_a_thousand_orders_take_no_more_statements(owner):
    few, many = make_customer("Few", (OTHER, "phone")), make_customer("Many", (NUMBER, "phone"))
    product = make_product()
    make_order(Status.SUCCESS, destination=OTHER, product=product)
    for _ in range(30):
        make_order(Status.SUCCESS, destination=NUMBER, product=product)

    with CaptureQueriesContext(connection) as of_few:
        erase(owner, few)
    with CaptureQueriesContext(connection) as of_many:
        erase(owner, many)

    assert len(of_many) == len(of_few)
    assert Order.objects.filter(number_erased=True).count() == 31


@pytest.mark.django_db(transaction=True)
def test_what_is_sealed_is_sound_after_an_erasure(owner, shop):
    seal_all()
    before = verify().flaws

    erase(owner, shop["customer"])
    seal_all()

    assert verify().flaws == before


def seal_in(answer):
    return re.findall(r'name="seal" value="(\w+)"', answer.content.decode())[0]


def test_a_number_that_somebody_adds_while_the_page_is_read_hides_no_orders(owner, shop):
    # given: to hide their own sales, a seller saves those sales' number for a customer who is about to be erased
    customer = shop["customer"]
    address = f"/customers/{customer.pk}/delete/"
    page = owner.get(address)
    added = browser_of("cashier").post(
        f"/customers/{customer.pk}/numbers/", {"what": "kind:phone", "destination": OTHER}
    )

    answer = owner.post(address, {"seal": seal_in(page)}, follow=True)

    assert (added.status_code, customer.numbers.count()) == (302, 3)
    assert says(page.content.decode()) == [NUMBER, METER]
    assert "numbers_changed" in codes(answer)
    assert "0812-9999-0002" in answer.content.decode()
    assert not Order.objects.filter(number_erased=True).exists()

    answer = owner.post(address, follow=True)

    assert "numbers_changed" in codes(answer), "without the seal"
    assert not Order.objects.filter(number_erased=True).exists()

    owner.post(address, {"seal": seal_in(answer)})

    assert Order.objects.filter(number_erased=True).count() == Order.objects.count()


def test_saved_views_that_name_the_erased_go_with_them(owner, shop):
    customer, other = shop["customer"], make_customer("Pak Budi", (OTHER, "phone"))
    for name, query in (
        ("Number", f"q=62{NUMBER[1:]}"),
        (f"of {NUMBER}", "status=success"),
        ("Customer", f"status=success&customer={customer.pk}"),
        ("Buyer", f"buyer={customer.pk}"),
        ("Other number", f"q={OTHER}"),
        ("Other customer", f"customer={other.pk}"),
    ):
        owner.post(f"/orders/views/save/?{query}", {"name": name})
    assert SavedView.objects.count() == 6

    erase(owner, customer)

    assert set(SavedView.objects.values_list("name", flat=True)) == {"Other number", "Other customer"}
