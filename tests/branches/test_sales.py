"""A sale belongs to the branch in which it was sold: it is stored with the payment, and its receipt shows it."""

import pytest
from django.db import DatabaseError, transaction

from approvals.models import Approval
from batches.services import place_rows, release, seal_of
from branches.models import FIRST
from branches.services import forget
from drawers.models import Drawer, Payment
from drawers.services import PaymentFacts, expected_cash
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


def test_a_sale_belongs_for_ever_to_the_branch_of_its_drawer_till_or_seller():
    tebet, person = make_branch(), make_person("cashier")
    assert sell(None).payment.branch_id == FIRST, "of a command"
    order = sell(make_person("cashier", username="there", branch=tebet))
    assert order.payment.branch == tebet, "without a drawer that of the seller"

    shift = begin(person, drawer=Drawer.objects.create(name="Tebet 1", branch=tebet), cash=0)
    assert sell(person).payment.branch == tebet
    close_shift(shift, pieces=pieces_of(expected_cash(shift)), actor=person)
    begin(person, drawer=Drawer.objects.create(name="Depan"))
    assert sell(person, payment=PaymentFacts(agreed_in=shift.pk)).payment.branch == tebet, "agreed in a closed shift"

    at_till = make_person("cashier", username="at-till")
    till = make_till(branch=tebet, held_by=at_till)
    by_pin = PinBackend().get_user(at_till.pk)
    assert (by_pin.sells_in, by_pin.tills[0].pk) == (tebet.pk, till.pk)
    with pytest.raises(DatabaseError), transaction.atomic():
        Payment.objects.filter(pk=order.payment_id).update(branch=FIRST)


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


def test_orders_their_list_and_file_name_the_branch_where_there_are_several(admin):
    def file() -> str:
        return b"".join(admin.get("/orders/file/?format=csv")).decode()

    def page(query: str = "") -> str:
        return admin.get(f"/orders/{query}").content.decode()

    here, lines = make_order(), ("tebet hari ini", "sold in tebet today", "cabang tebet 50 ribu")
    assert 'name="branch"' not in page()
    assert ",branch" not in file()
    assert "Tebet" not in page("?columns=product,branch")
    assert not any("branch=" in admin.get("/orders/", {"q": line}).url for line in lines)
    branch = make_branch()
    there = sell(make_person("cashier", branch=branch))

    everywhere, narrowed = page(), page(f"?branch={branch.pk}")

    assert 'name="branch"' in everywhere
    assert set(refs(everywhere)) == {here.ref_id, there.ref_id}
    assert refs(narrowed) == [there.ref_id]
    assert "Branch: Tebet" in narrowed
    assert "Tebet" in file()
    assert "Tebet" in page("?columns=product,branch").split("<tbody")[1]
    assert all(f"branch={branch.pk}" in admin.get("/orders/", {"q": line}).url for line in lines)
    assert "Tebet" in admin.get(f"/orders/{there.ref_id}/").content.decode().split('id="sold-at"')[1][:40]


def test_refunds_people_and_shifts_are_narrowed_by_branch(admin):
    tebet = make_branch()
    siti, andi = make_person("cashier", username="siti", branch=tebet), make_person("cashier", username="andi")
    orders = {person.username: make_order("reversed", placed_by=person, price=10_500) for person in (siti, andi)}
    begin(siti, drawer=Drawer.objects.create(name="Laci Tebet", branch=tebet))
    begin(andi, drawer=Drawer.objects.create(name="Laci Depan"))

    refunds, shifts = (admin.get(f"/{page}/?branch={tebet.pk}").context["page"].rows for page in ("refunds", "shifts"))
    people = admin.get(f"/staff/?branch={tebet.pk}").context["page"].object_list

    assert [payment.ref_id for payment in refunds] == [orders["siti"].ref_id]
    assert [shift.drawer.name for shift in shifts] == ["Laci Tebet"]
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


def test_a_receipt_names_no_branch_of_a_shop_with_one_and_one_like_the_shop_once(cashier, admin):
    order = make_order("success", price=10_500)
    cashier.post(f"/orders/{order.ref_id}/receipt/", {"paper": "58"})
    assert ReceiptPrint.objects.get().branch is None
    assert not has_id(admin.get(f"/orders/{order.ref_id}/"), "sold-at")

    make_branch()
    order = make_order("success", price=10_500)
    receipt = f"/orders/{order.ref_id}/receipt/"
    cashier.post(receipt, {"paper": "58"})
    printed = ReceiptPrint.objects.get(order=order)
    assert printed.branch.name == current_shop().name
    paper = cashier.get(f"{receipt}1/").content.decode().partition("<article")[2].partition("</article>")[0]
    assert paper.count(printed.branch.name) == 1
