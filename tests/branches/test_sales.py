"""A sale belongs to the branch in which it was sold: it is stored with the payment, and its receipt shows it."""

import pytest
from django.db import DatabaseError, transaction

from approvals.models import Approval
from batches.services import place_rows, release, seal_of
from branches.models import FIRST
from branches.services import forget
from drawers.models import Drawer, Payment
from drawers.services import PaymentFacts
from drawers.services.shifts import close_shift
from gateway.models import Exchange
from ledger.models import Entry
from purchases.models import Order, ReceiptPrint
from shop.services import current_shop
from staff.models import User
from staff.services import move
from testing.factories import make_check, make_order, make_product
from testing.people import browser_of, make_person
from tests.approvals.helpers import approve, ask_bill, ask_order
from tests.batches.helpers import checked
from tests.branches.helpers import make_branch
from tests.core.helpers import has_id, words_at
from tests.drawers.helpers import begin, pieces_of, sell
from tests.ledger.helpers import open_books
from tests.tills.helpers import make_till
from tills.backends import PinBackend

pytestmark = pytest.mark.django_db


def refs(page: str) -> list[str]:
    """The ref_ids of these orders that a list shows."""
    return [ref_id for ref_id in Payment.objects.values_list("ref_id", flat=True) if ref_id in page]


def test_the_counter_and_the_overview_name_the_branch_of_the_next_sale():
    browser = browser_of("cashier", language="en")
    pages = (("/counter/", "counter-branch"), ("/", "own-branch"))
    assert not any(has_id(browser.get(address), place) for address, place in pages), "one branch: nobody sees the word"
    tebet = make_branch()
    assert "Tebet" not in words_at(browser.get("/counter/"), 'id="counter-branch"')

    begin(User.objects.get(username="cashier"), drawer=Drawer.objects.create(name="Tebet 1", branch=tebet))

    for address, place in pages:
        assert "Tebet" in words_at(browser.get(address), f'id="{place}"')


def test_a_sale_out_of_a_drawer_belongs_to_the_branch_of_the_drawer():
    tebet, person = make_branch(), make_person("cashier")
    begin(person, drawer=Drawer.objects.create(name="Tebet 1", branch=tebet))

    assert sell(person).payment.branch == tebet


def test_a_sale_without_a_drawer_belongs_to_the_branch_of_the_seller():
    assert sell(make_person("cashier", branch=make_branch())).payment.branch.name == "Tebet"


def test_a_sale_of_a_command_belongs_to_the_first_branch():
    make_branch()

    assert sell(None).payment.branch_id == FIRST


def test_a_person_at_a_till_sells_in_the_branch_of_the_till():
    tebet, person = make_branch(), make_person("cashier")
    till = make_till(branch=tebet, held_by=person)

    at_till = PinBackend().get_user(person.pk)
    assert (at_till.sells_in, at_till.tills[0].pk) == (tebet.pk, till.pk)


def test_a_sale_that_was_agreed_in_a_closed_shift_belongs_to_its_branch():
    tebet, person = make_branch(), make_person("cashier")
    shift = begin(person, drawer=Drawer.objects.create(name="Tebet 1", branch=tebet), cash=0)
    close_shift(shift, pieces=pieces_of(0), actor=person)
    begin(person, drawer=Drawer.objects.create(name="Depan"))

    assert sell(person, payment=PaymentFacts(agreed_in=shift.pk)).payment.branch == tebet


@pytest.mark.parametrize("what", ["purchase", "bill", "batch"])
def test_given_the_seller_moved_then_an_approved_sale_stays(what):
    open_books(1_000_000)
    tebet, person = make_branch(), make_person("cashier", own_approval_above=10_000)
    approval = _ask(what, person)

    move(person, branch=tebet.pk, actor=make_person("admin"))
    approve(approval, make_person("supervisor"))
    if what == "batch":
        place_rows(approval.facts["batch"])

    order = Order.objects.select_related("payment").get()
    assert (approval.branch_id, order.payment.branch_id, order.payment.seller) == (FIRST, FIRST, person)
    assert (order.status, order.payment.sold_in) == ("queued", None)
    assert [(entry.kind, entry.amount) for entry in Entry.objects.filter(ref_id=order.ref_id)] == [
        ("hold", order.max_price)
    ]
    assert not Exchange.objects.filter(ref_id=order.ref_id).exists()


def test_given_a_sale_asked_for_at_a_till_then_it_is_of_its_branch():
    open_books(1_000_000)
    tebet, person = make_branch(), make_person("cashier", own_approval_above=10_000)
    make_till(branch=tebet, held_by=person)
    approval = ask_order(make_product(price=12_000), PinBackend().get_user(person.pk))

    approve(approval, make_person("supervisor"))

    assert (approval.branch, Order.objects.get().payment.branch) == (tebet, tebet)


def test_given_a_drawer_opened_elsewhere_then_it_takes_only_the_cash():
    open_books(1_000_000)
    tebet, person = make_branch(), make_person("cashier", own_approval_above=10_000)
    first = begin(person, cash=0)
    approval = _ask("purchase", person)
    close_shift(first, pieces=pieces_of(0), actor=person)

    shift = begin(person, drawer=Drawer.objects.create(name="Tebet 1", branch=tebet))
    approve(approval, make_person("supervisor"))

    payment = Order.objects.get().payment
    assert (payment.branch_id, payment.sold_in) == (FIRST, shift)


@pytest.mark.parametrize("meanwhile", ["moved", "in a drawer elsewhere", "released by a command"])
def test_the_orders_of_a_batch_belong_to_its_branch(meanwhile):
    open_books(1_000_000)
    make_product(price=12_000)
    tebet = make_branch()
    person = make_person("supervisor", branch=tebet)
    batch = checked("081290000001;10\n", person)
    shift = begin(person, drawer=Drawer.objects.create(name="Depan")) if "drawer" in meanwhile else None

    release(batch, actor=None if "command" in meanwhile else person, seal=seal_of(batch), payment=PaymentFacts())
    if meanwhile == "moved":
        move(person, branch=FIRST, actor=make_person("admin"))
    place_rows(batch.pk)

    order = Order.objects.select_related("payment__branch", "batch_row__batch").get()
    assert (order.payment.branch, order.batch_row.batch.branch, order.payment.sold_in) == (tebet, tebet, shift)
    assert [(entry.kind, entry.amount) for entry in Entry.objects.filter(ref_id=order.ref_id)] == [
        ("hold", order.max_price)
    ]
    assert not Exchange.objects.filter(ref_id=order.ref_id).exists()


def test_given_a_batch_asked_for_elsewhere_it_keeps_its_branch():
    open_books(1_000_000)
    tebet, person = make_branch(), make_person("cashier", own_approval_above=10_000)
    begin(person, drawer=Drawer.objects.create(name="Tebet 1", branch=tebet))
    approval = _ask("batch", person)

    approve(approval, make_person("supervisor"))
    place_rows(approval.facts["batch"])

    assert (approval.branch_id, Order.objects.get().payment.branch_id) == (FIRST, FIRST)


def _ask(what: str, person: User) -> Approval:
    """Have this person ask for a sale above the limit, without a shift."""
    if what == "purchase":
        return ask_order(make_product(price=12_000), person)
    if what == "bill":
        return ask_bill(make_check(), person)
    make_product(price=12_000)
    batch = checked("081290000001;10\n", person)
    return release(batch, actor=person, seal=seal_of(batch), payment=PaymentFacts())


def test_the_branch_of_a_sale_never_changes():
    order = sell(make_person("cashier"))

    with pytest.raises(DatabaseError), transaction.atomic():
        Payment.objects.filter(pk=order.payment_id).update(branch=make_branch())


def test_the_list_of_orders_is_narrowed_by_branch_where_there_are_several(admin):
    here = make_order()
    assert 'name="branch"' not in admin.get("/orders/").content.decode()
    there = sell(make_person("cashier", branch=make_branch()))

    everywhere = admin.get("/orders/").content.decode()
    narrowed = admin.get(f"/orders/?branch={there.payment.branch_id}").content.decode()

    assert 'name="branch"' in everywhere
    assert set(refs(everywhere)) == {here.ref_id, there.ref_id}
    assert refs(narrowed) == [there.ref_id]
    assert "Branch: Tebet" in narrowed


def test_a_typed_line_names_a_branch_where_there_are_several(admin):
    lines = ("tebet hari ini", "sold in tebet today", "cabang tebet 50 ribu")
    assert not any("branch=" in admin.get("/orders/", {"q": line}).url for line in lines)
    branch = make_branch()

    assert all(f"branch={branch.pk}" in admin.get("/orders/", {"q": line}).url for line in lines)


def test_the_branch_is_a_column_of_orders_and_of_their_file_where_there_are_several(admin):
    def file() -> str:
        return b"".join(admin.get("/orders/file/?format=csv")).decode()

    make_order()
    assert ",branch" not in file()
    assert "Tebet" not in admin.get("/orders/?columns=product,branch").content.decode()
    sell(make_person("cashier", branch=make_branch()))

    assert "Tebet" in file()
    assert "Tebet" in admin.get("/orders/?columns=product,branch").content.decode().split("<tbody")[1]


def test_the_list_of_shifts_is_narrowed_by_branch(admin):
    tebet = make_branch()
    begin(make_person("cashier", username="siti"), drawer=Drawer.objects.create(name="Laci Tebet", branch=tebet))
    begin(make_person("cashier", username="andi"), drawer=Drawer.objects.create(name="Laci Depan"))

    rows = admin.get(f"/shifts/?branch={tebet.pk}").context["page"].rows

    assert [shift.drawer.name for shift in rows] == ["Laci Tebet"]


def test_refunds_and_people_are_narrowed_by_branch(admin):
    tebet = make_branch()
    siti, andi = make_person("cashier", username="siti", branch=tebet), make_person("cashier", username="andi")
    orders = {person.username: make_order("reversed", placed_by=person, price=10_500) for person in (siti, andi)}

    refunds = admin.get(f"/refunds/?branch={tebet.pk}").context["page"].rows
    people = admin.get(f"/staff/?branch={tebet.pk}").context["page"].object_list

    assert [payment.ref_id for payment in refunds] == [orders["siti"].ref_id]
    assert [person.username for person in people] == ["siti"]


def test_a_receipt_shows_the_branch_as_it_was_at_the_original(cashier):
    tebet = make_branch(address="Jl. Tebet Raya 1")
    order = make_order("success", placed_by=make_person("cashier", username="siti", branch=tebet), price=10_500)
    receipt = f"/orders/{order.ref_id}/receipt/"
    cashier.post(receipt, {"paper": "58"})
    printed = ReceiptPrint.objects.get()

    tebet.address = "Jl. Baru 9"
    tebet.save()
    forget()
    page = cashier.get(f"{receipt}1/").content.decode()

    assert printed.branch.name == "Tebet"
    assert ("Jl. Tebet Raya 1" in page, "Jl. Baru 9" in page) == (True, False)


def test_a_branch_that_is_called_like_the_shop_is_named_once_on_a_receipt(cashier):
    make_branch()
    order = make_order("success", price=10_500)
    receipt = f"/orders/{order.ref_id}/receipt/"
    cashier.post(receipt, {"paper": "58"})
    printed = ReceiptPrint.objects.get()
    assert printed.branch.name == current_shop().name

    paper = cashier.get(f"{receipt}1/").content.decode().partition("<article")[2].partition("</article>")[0]

    assert paper.count(printed.branch.name) == 1


def test_a_receipt_of_a_shop_with_one_branch_names_none(cashier, admin):
    order = make_order("success", price=10_500)

    cashier.post(f"/orders/{order.ref_id}/receipt/", {"paper": "58"})

    assert ReceiptPrint.objects.get().branch is None
    assert not has_id(admin.get(f"/orders/{order.ref_id}/"), "sold-at")


def test_the_page_of_an_order_names_its_branch_where_there_are_several(admin):
    order = sell(make_person("cashier", branch=make_branch()))

    assert "Tebet" in admin.get(f"/orders/{order.ref_id}/").content.decode().split('id="sold-at"')[1][:40]
