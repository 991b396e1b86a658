"""A customer or a number that a colleague deletes or merges while somebody changes it does not come back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from customers.forms import CustomerForm, MergeForm, SavedNumberForm
from customers.models import Customer, SavedNumber
from customers.services import erase, saving
from drawers.services import merge_customers
from dues.forms import FollowForm
from dues.models import FollowedNumber
from dues.services import follow
from testing.factories import make_biller
from testing.orders import Meanwhile
from testing.people import make_person
from tests.customers.helpers import NUMBER, make_customer

pytestmark = pytest.mark.django_db

OTHER = "081277770002"


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`first(form, act)`: the act of a colleague ends after the view has read its rows, and before it writes."""

    def do_first(form: Any, act: Callable[[], Any]) -> None:
        acts, is_valid = [act], form.is_valid

        def check(bound: Any) -> bool:
            if acts:
                acts.pop()()
            return is_valid(bound)

        monkeypatch.setattr(form, "is_valid", check)

    return do_first


def merge(one: Customer, other: Customer) -> Customer:
    return merge_customers(one, other, name=one.name, note="", actor=make_person("supervisor"))


def test_given_an_erasure_during_an_edit_then_the_customer_stays_erased(cashier, first):
    customer = make_customer("Bu Sari", (NUMBER, "phone"))
    first(CustomerForm, partial(erase, customer.pk, actor=make_person("admin")))

    answer = cashier.post(f"/customers/{customer.pk}/edit/", {"name": "Bu Sari", "note": "Blok C 4"})

    assert answer.status_code == 404
    assert not Customer.objects.exists()


def test_given_an_erasure_during_an_edit_of_a_number_then_it_stays_erased(cashier, first):
    number = make_customer("Bu Sari", (NUMBER, "phone")).numbers.get()
    first(SavedNumberForm, partial(SavedNumber.objects.all().delete))

    typed = {"what": "kind:phone", "destination": OTHER, "note": "toko"}
    answer = cashier.post(f"/customers/numbers/{number.pk}/edit/", typed)

    assert answer.status_code == 404
    assert not SavedNumber.objects.exists()


def test_given_a_merge_during_an_edit_of_a_number_then_both_are_kept(cashier, first):
    kept, gone = make_customer("Bu Sari"), make_customer("Sari Warung", (NUMBER, "phone"))
    number = gone.numbers.get()
    first(SavedNumberForm, partial(merge, kept, gone))

    typed = {"what": "kind:phone", "destination": OTHER, "note": "toko"}
    answer = cashier.post(f"/customers/numbers/{number.pk}/edit/", typed)

    assert [*kept.numbers.values_list("destination", "note")] == [(OTHER, "toko")]
    assert answer.headers["Location"] == f"/customers/{kept.pk}/"


def test_given_a_merge_before_or_during_a_new_number_then_who_stayed_gets_it(cashier, first):
    kept, gone, other = make_customer("Bu Sari"), make_customer("Sari Warung"), make_customer("Bu Sari Dua")
    merge(kept, gone)
    first(SavedNumberForm, partial(merge_customers, kept, other, name="Bu Sari", note="", actor=make_person("admin")))

    answers = [
        cashier.post(f"/customers/{pk}/numbers/", {"what": "kind:phone", "destination": number})
        for pk, number in ((other.pk, OTHER), (gone.pk, NUMBER))
    ]

    assert {answer.headers["Location"] for answer in answers} == {f"/customers/{kept.pk}/"}
    assert {*kept.numbers.values_list("destination", flat=True)} == {NUMBER, OTHER}


def test_given_a_second_press_of_merge_then_it_leads_to_who_stayed(cashier, first):
    one, other = make_customer("Bu Sari"), make_customer("Sari Warung")
    first(MergeForm, partial(merge, one, other))

    answer = cashier.post(f"/customers/{one.pk}/merge/?other={other.pk}", {"name": "Bu Sari", "note": ""})

    assert answer["Location"] == f"/customers/{one.pk}/"


def test_given_both_are_gone_during_a_merge_then_there_is_no_page(cashier, first):
    one, other = make_customer("Bu Sari"), make_customer("Sari Warung")
    first(MergeForm, partial(Customer.objects.all().delete))

    answer = cashier.post(f"/customers/{one.pk}/merge/?other={other.pk}", {"name": "Bu Sari", "note": ""})

    assert answer.status_code == 404


@pytest.mark.parametrize("act", ["delete", "merge"])
@pytest.mark.django_db(transaction=True)
def test_given_a_number_that_goes_while_it_is_followed_then_there_is_no_page(cashier, first, act):
    biller = make_biller()
    customer, other = make_customer("Bu Sari", ("1234567890", biller)), make_customer("Sari", ("1234567890", biller))
    number = other.numbers.get()
    first(FollowForm, number.delete if act == "delete" else partial(merge, customer, other))

    answer = cashier.post(f"/due/{number.pk}/", {"day": "12"})

    assert answer.status_code == 404
    assert not FollowedNumber.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_given_a_merge_under_way_then_another_day_of_a_followed_number_stops_nobody(monkeypatch):
    # given two customers with one number, both followed
    person, biller, move_all = make_person("cashier"), make_biller(), saving.move_all
    kept, gone = (make_customer(name, ("1234567890", biller)) for name in ("Bu Sari", "Sari"))
    of_kept, of_gone = kept.numbers.get(), gone.numbers.get()
    for number in (of_kept, of_gone):
        follow(number, day=12, fine_day=None, actor=person)
    changes = []

    def change_meanwhile(*numbers):
        changes.append(Meanwhile(partial(follow, of_kept, day=15, fine_day=None, actor=person)))
        changes[0].is_blocked_by_us()
        move_all(*numbers)
        changes.append(Meanwhile(partial(follow, of_gone, day=20, fine_day=None, actor=person)))
        assert changes[1].is_blocked_by_us()

    # when the day of each changes during the merge
    monkeypatch.setattr(saving, "move_all", change_meanwhile)
    merge(kept, gone)

    # then the number that stays has its new day, and the other one is gone
    changes[0].end()
    with pytest.raises(SavedNumber.DoesNotExist):
        changes[1].end()
    assert FollowedNumber.objects.get().day == 15
