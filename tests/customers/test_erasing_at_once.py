"""An erasure and other people's acts at the same moment, on real connections."""

import threading
from contextlib import suppress
from functools import partial

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from bills.models import BillCheck
from customers.errors import NumbersChanged
from customers.models import Customer, SavedNumber
from customers.services import erase, import_customers, one_new_customer_at_a_time, saving
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_check, make_order, make_product
from testing.orders import Meanwhile, at_once
from testing.people import browser_of, make_person
from tests.customers.helpers import make_customer

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER, OTHER = "081277770001", "081277770002"


def erased() -> set[str]:
    return {order.destination for order in Order.objects.filter(number_erased=True)}


def test_a_number_of_two_customers_who_are_erased_at_once_is_masked(monkeypatch):
    # given: both look for numbers of others before either customer is gone
    owner = make_person("admin")
    make_order(Status.SUCCESS, destination=NUMBER)
    customers = [make_customer(name, (NUMBER, "phone")) for name in ("Bu Sari", "Pak Budi")]
    looked, look = threading.Barrier(2), saving._numbers_of_nobody_else

    def look_and_wait(pk):
        numbers = look(pk)
        with suppress(threading.BrokenBarrierError):
            looked.wait(timeout=1)
        return numbers

    monkeypatch.setattr(saving, "_numbers_of_nobody_else", look_and_wait)

    at_once(*(partial(erase, customer.pk, actor=owner) for customer in customers))

    assert not Customer.objects.exists()
    assert erased() == {NUMBER}


def test_a_number_that_is_saved_while_its_customer_is_erased_is_read_again_first(monkeypatch):
    owner = make_person("admin")
    for number in (NUMBER, OTHER):
        make_order(Status.SUCCESS, destination=number)
    customer, forget = make_customer("Bu Sari", (NUMBER, "phone")), saving.forget_all

    def save_another_first(numbers):
        if numbers == {NUMBER}:
            at_once(partial(SavedNumber.objects.create, customer=customer, destination=OTHER, kind="phone"))
        forget(numbers)

    monkeypatch.setattr(saving, "forget_all", save_another_first)

    # when: its orders would be locked after the customer, which may deadlock
    with pytest.raises(NumbersChanged):
        erase(customer.pk, actor=owner)

    assert erased() == set()

    monkeypatch.undo()
    erase(customer.pk, actor=owner)

    assert not SavedNumber.objects.exists()
    assert erased() == {NUMBER, OTHER}


@pytest.fixture
def meanwhile_as_it_goes(monkeypatch):
    """`meanwhile_as_it_goes(act)`: this act of a colleague runs while an erased customer's row is being deleted."""
    started: list[Meanwhile] = []

    def run(act):
        record = saving.record

        def act_first(*args, **facts):
            started.append(Meanwhile(act))
            assert started[0].is_blocked_by_us()
            record(*args, **facts)

        monkeypatch.setattr(saving, "record", act_first)
        return started

    return run


@pytest.mark.parametrize("address", ["/customers/{pk}/numbers/", "/customers/save/?product={code}"])
def test_a_number_for_a_customer_who_is_being_erased_is_not_saved(meanwhile_as_it_goes, address):
    customer, product, cashier = make_customer("Bu Sari"), make_product(), browser_of("cashier")
    address = address.format(pk=customer.pk, code=product.code)
    typed = {"customer": "Bu Sari", "what": "kind:phone", "destination": NUMBER}
    saved = meanwhile_as_it_goes(partial(cashier.post, address, typed))

    erase(customer.pk, actor=make_person("admin"))

    assert saved[0].end().status_code == 404
    assert not Customer.objects.exists()


def test_a_number_is_not_changed_after_an_erasure_has_read_it(monkeypatch):
    customer, supervisor = make_customer("Bu Sari", (NUMBER, "phone")), browser_of("supervisor")
    address = f"/customers/numbers/{customer.numbers.get().pk}/edit/"
    changes, refusal = list[Meanwhile](), saving._sale_agreed

    def change_first(erased):
        changes.append(Meanwhile(partial(supervisor.post, address, {"what": "kind:phone", "destination": OTHER})))
        assert changes[0].is_blocked_by_us()
        return refusal(erased)

    monkeypatch.setattr(saving, "_sale_agreed", change_first)

    erase(customer.pk, actor=make_person("admin"))

    assert changes[0].end().status_code == 404
    assert not SavedNumber.objects.exists()


@pytest.mark.parametrize(
    ("address", "typed"),
    [
        ("/customers/add/", {"name": "Bu Sari"}),
        ("/customers/save/?product={code}", {"customer": "Bu Sari", "what": "kind:phone", "destination": NUMBER}),
    ],
)
def test_two_presses_at_once_add_one_customer(address, typed):
    address, cashier = address.format(code=make_product().code), browser_of("supervisor")

    with transaction.atomic():
        one_new_customer_at_a_time()
        presses = [Meanwhile(partial(cashier.post, address, typed)) for _ in range(2)]
        assert all(press.is_blocked_by_us() for press in presses)
    for press in presses:
        press.end()

    assert Customer.objects.count() == 1


def test_an_import_for_a_customer_who_is_being_erased_makes_a_new_one(meanwhile_as_it_goes):
    customer = make_customer("Bu Sari")
    imported = meanwhile_as_it_goes(
        partial(import_customers, f"nama;nomor\nBu Sari;{NUMBER}\n", actor=make_person("supervisor"))
    )

    erase(customer.pk, actor=make_person("admin"))

    imported[0].end()
    assert Customer.objects.get().pk != customer.pk
    assert SavedNumber.objects.get().destination == NUMBER


def test_bills_are_masked_in_the_order_in_which_several_are_paid():
    # given: rows that are no longer stored in the order of their keys
    first, second = make_check(destination=NUMBER), make_check(destination=NUMBER)
    BillCheck.objects.filter(pk=first.pk).update(polls=1)

    with transaction.atomic(), CaptureQueriesContext(connection) as asked:
        assert BillCheck.objects.filter(pk__in=[second.pk, first.pk]).forget_number() == 2

    assert asked[0]["sql"].endswith("ORDER BY 1 ASC FOR NO KEY UPDATE"), "the keys"
