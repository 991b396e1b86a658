"""Two customers who are one person become one: numbers, notes and debt come together, to the rupiah."""

from __future__ import annotations

from functools import partial

import pytest

from audit.models import AuditEvent
from credit.errors import CreditRefused
from credit.models import CreditAccount, CreditEntry
from credit.services import merge_customers, record_payment
from customers.events import CUSTOMERS_MERGED
from customers.models import Customer, SavedNumber
from testing.orders import at_once
from testing.people import browser_of, make_person
from tests.core.helpers import codes, has_id
from tests.credit.helpers import account_of, give_credit, owed_by, refused, sell_to
from tests.customers.helpers import make_customer

pytestmark = pytest.mark.django_db(transaction=True)

ONE, OTHER = "081211112222", "081233334444"


def merge(one: Customer, other: Customer, **facts) -> Customer:
    facts = {"name": one.name, "note": "", **facts}
    return merge_customers(one, other, actor=facts.pop("actor", None) or make_person("supervisor"), **facts)


def test_numbers_and_notes_of_two_come_together():
    one = make_customer("Bu Sari", (ONE, "phone"), note="Blok C 4")
    other = make_customer("Sari Warung", (ONE, "phone"), (OTHER, "phone"), note="pays on Fridays")
    one.numbers.update(note="rumah")
    other.numbers.filter(destination=ONE).update(note="suami")
    browser = browser_of("cashier")

    choose = browser.get(f"/customers/{one.pk}/merge/").content.decode()
    page = browser.get(f"/customers/{one.pk}/merge/?other={other.pk}")
    answer = browser.post(
        f"/customers/{one.pk}/merge/?other={other.pk}",
        {"name": "Sari Warung", "note": page.context["form"]["note"].value()},
    )

    assert f'data-other="{other.pk}"' in choose
    assert answer["Location"] == f"/customers/{one.pk}/"
    customer = Customer.objects.get()
    assert (customer.pk, customer.name, customer.note) == (one.pk, "Sari Warung", "Blok C 4 · pays on Fridays")
    assert sorted(customer.numbers.values_list("destination", "note")) == [(ONE, "rumah · suami"), (OTHER, "")]
    event = AuditEvent.objects.get(kind=CUSTOMERS_MERGED.key)
    assert (event.subject, event.facts) == (f"customer {one.pk}", {"merged": other.pk})


def test_a_search_finds_the_other_and_nobody_merges_with_themselves():
    one, other = make_customer("Bu Sari"), make_customer("Pak Budi")
    browser = browser_of("cashier")

    assert has_id(browser.get(f"/customers/{one.pk}/merge/"), "nobody-alike")
    assert f'data-other="{other.pk}"' in browser.get(f"/customers/{one.pk}/merge/?q=budi").content.decode()
    for wrong in (one.pk, 999, "x"):
        assert browser.get(f"/customers/{one.pk}/merge/?other={wrong}").status_code == 404


def test_the_one_with_money_on_the_account_stays_and_no_entry_moves():
    seller = make_person("cashier")
    plain, owing = make_customer("Bu Sari", (ONE, "phone")), give_credit("Sari Warung")
    order = sell_to(owing, 30_000, by=seller)

    kept = merge(plain, owing)

    assert (kept.pk, kept.name, Customer.objects.count()) == (owing.pk, "Bu Sari", 1)
    assert owed_by(owing) == 30_000
    assert list(CreditEntry.objects.values_list("kind", "amount", "ref_id")) == [("sale", 30_000, order.ref_id)]
    assert SavedNumber.objects.get().customer == owing


def test_an_empty_account_goes_with_its_customer():
    seller = make_person("cashier")
    paid, owing = give_credit("Bu Sari"), give_credit("Sari Warung", cap=50_000)
    sell_to(paid, 5_000, by=seller), sell_to(owing, 30_000, by=seller)
    record_payment(account_of(paid), amount=5_000, method="cash", actor=seller)

    merge(paid, owing)

    assert (Customer.objects.get().pk, owed_by(owing), account_of(owing).cap) == (owing.pk, 30_000, 50_000)
    assert CreditAccount.objects.get(customer=None).balance == 0


def test_two_who_both_owe_are_not_merged():
    seller = make_person("cashier")
    one, other = give_credit("Bu Sari"), give_credit("Sari Warung")
    sell_to(one, 5_000, by=seller), sell_to(other, 30_000, by=seller)

    with refused("both_owe"):
        merge(one, other)
    page = browser_of("supervisor", username="other").post(
        f"/customers/{one.pk}/merge/?other={other.pk}", {"name": "Bu Sari", "note": ""}
    )

    assert "CreditRefused:both_owe" in codes(page)
    assert (owed_by(one), owed_by(other), Customer.objects.count()) == (5_000, 30_000, 2)


def test_a_sale_on_credit_during_a_merge_is_owed_by_the_one_who_stays_or_refused():
    seller, actor = make_person("cashier"), make_person("supervisor")
    for number in range(5):
        one, other = give_credit(f"Bu Sari {number}"), give_credit(f"Sari Warung {number}")

        sold, merged = at_once(partial(sell_to, other, 10_000, by=seller), partial(merge, one, other, actor=actor))

        left = Customer.objects.filter(name__endswith=str(number))
        if isinstance(sold, CreditRefused):  # the merge was first: there is nobody of this account any more
            assert (merged.pk, owed_by(one), left.count()) == (one.pk, 0, 1)
        else:
            assert (merged.pk, owed_by(other), left.count()) == (other.pk, 10_000, 1)


@pytest.mark.parametrize("role", ["viewer", "auditor"])
def test_merging_takes_the_right_to_delete(role):
    one, other = make_customer("Bu Sari"), make_customer("Pak Budi")

    answer = browser_of(role).post(f"/customers/{one.pk}/merge/?other={other.pk}", {"name": "Bu Sari"})

    assert (answer.status_code, Customer.objects.count()) == (403, 2)
