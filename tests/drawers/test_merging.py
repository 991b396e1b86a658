"""Two entries of one customer become one: numbers, notes and debt are joined, to the rupiah."""

import datetime as dt
from functools import partial

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from audit.models import AuditEvent
from branches.models import FIRST
from core.times import day_words
from credit.errors import CreditRefused, OverCap
from credit.events import CREDIT_MOVED
from credit.models import CreditAccount, CreditEntry
from credit.services import (
    bring_forward,
    debts_of,
    lock_account,
    put_on_credit,
    record_payment,
    unfulfilled_sales,
)
from credit.services.accounts import enter
from customers.errors import MoneyOpen
from customers.events import CUSTOMERS_MERGED
from customers.models import Customer, SavedNumber
from customers.services import erase
from drawers.services import merge_customers
from earnings.services.journal import journal_of
from exports.models import SavedView
from testing.orders import Meanwhile, at_once
from testing.people import browser_of, make_person
from tests.core.helpers import words, words_at
from tests.credit.helpers import account_of, give_credit, owed_by, sell_to, sold_earlier, take_off
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
    # then: the page of the merged leads to the one who stays
    assert browser.get(f"/customers/{other.pk}/")["Location"] == f"/customers/{one.pk}/"
    assert browser_of("viewer").get(f"/customers/{other.pk}/").status_code == 403
    assert [browser.get(f"/customers/{pk}/").status_code for pk in (other.pk + 1, 10**20)] == [404, 404]


def test_a_search_finds_the_other_and_nobody_merges_with_themselves():
    one, other = make_customer("Bu Sari"), make_customer("Pak Budi")
    browser = browser_of("cashier")

    before, nothing = (words(browser.get(f"/customers/{one.pk}/merge/{query}")) for query in ("", "?q=zzz"))
    assert "Search for the other entry." in before
    assert "Nobody" not in before
    assert "Nothing matches" in nothing
    assert f'data-other="{other.pk}"' in browser.get(f"/customers/{one.pk}/merge/?q=budi").content.decode()
    for wrong in (one.pk, 999, "x", "9" * 30, "9" * 5_000):
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


def entries_of(account: CreditAccount) -> list[tuple[str, int, int]]:
    return list(account.entries.order_by("pk").values_list("kind", "amount", "balance_after"))


def test_what_two_owe_comes_together_with_its_days_and_its_orders():
    seller = make_person("cashier")
    one, other = give_credit("Bu Sari", cap=50_000), give_credit("Sari Warung", due_days=3)
    leaving = account_of(other)
    ours = sell_to(one, 5_000, by=seller)
    paid, unpaid = sell_to(other, 10_000, by=seller), sell_to(other, 30_000, by=seller)
    bring_forward(leaving, amount=20_000, reason="book", actor=make_person("admin"))
    record_payment(leaving, amount=14_000, method="cash", actor=seller)
    for order in (ours, paid, unpaid):
        set_outcome(order, "kept")
    due = CreditEntry.objects.get(ref_id=unpaid.ref_id).due_on

    assert merge(one, other).pk == one.pk

    leaving.refresh_from_db()
    assert (leaving.customer, leaving.balance) == (None, 0)
    assert entries_of(leaving)[4:] == [
        ("moved", -30_000, 16_000),
        ("moved", -20_000, -4_000),
        ("moved", 4_000, 0),
    ]
    assert entries_of(account_of(one)) == [
        ("sale", 5_000, 5_000),
        ("moved", 30_000, 35_000),
        ("moved", 20_000, 55_000),
        ("moved", -4_000, 51_000),
    ]
    assert owed_by(one) == 51_000
    assert account_of(one).oldest_due == due
    open_debts = {(debt.ref_id, debt.due_on): debt.open for debt in debts_of(account_of(one))}
    assert open_debts == {
        (unpaid.ref_id, due): 26_000,
        ("", due): 20_000,
        (ours.ref_id, ours.payment.debt.due_on): 5_000,
    }
    unpaid.payment.refresh_from_db()
    assert unpaid.payment.debt.account == account_of(one)
    event = AuditEvent.objects.get(kind=CREDIT_MOVED.key)
    assert (event.subject, event.facts) == (f"customer {one.pk}", {"amount": 46_000, "merged": other.pk})
    with pytest.raises(OverCap):
        sell_to(one, 1_000, by=seller)
    page = browser_of("supervisor", username="other").get(f"/orders/{unpaid.ref_id}/").content.decode()
    assert 'id="sale-unpaid" data-amount="26000"' in page


def test_a_debt_that_moved_is_as_old_as_its_sale():
    seller, one, other = make_person("cashier"), give_credit("Bu Sari"), give_credit("Sari Warung")
    sell_to(one, 5_000, by=seller)
    sold = sell_to(other, 10_000, by=seller)
    sold_earlier(one, 2)
    sold_earlier(other, 5)
    today = timezone.localdate()

    merge(one, other)

    days = [timezone.localdate(debt.since) for debt in debts_of(account_of(one))]
    assert days == [today - dt.timedelta(days=2), today - dt.timedelta(days=5)]
    page = browser_of("cashier", username="reader").get(f"/customers/{one.pk}/")
    rows = page.content.decode().partition('id="debts"')[2].partition("</table>")[0]
    moved = next(row for row in rows.split("<tr") if sold.ref_id in row)
    assert f'data-since="{today - dt.timedelta(days=5)}"' in moved
    assert day_words(today - dt.timedelta(days=5)) in words_at(page, 'id="owed-since"')


def set_outcome(order, outcome: str) -> None:
    """End the order's payment as its order would."""
    facts = {"cost": 0} if outcome == "kept" else {}
    type(order.payment).objects.filter(pk=order.payment_id).update(outcome=outcome, ended_at=timezone.now(), **facts)


def test_the_price_of_a_moved_order_that_fails_comes_off_the_account_where_it_is():
    seller = make_person("cashier")
    one, other = give_credit("Bu Sari"), give_credit("Sari Warung")
    sell_to(one, 5_000, by=seller)
    order = sell_to(other, 30_000, by=seller)
    record_payment(account_of(other), amount=10_000, method="cash", actor=seller)
    set_outcome(order, "owed")

    merge(one, other)
    order.payment.refresh_from_db()
    assert unfulfilled_sales(account_of(one)) == {order.ref_id: 30_000}
    take_off(order, actor=make_person("supervisor", username="gives"))

    assert owed_by(one) == -5_000
    assert entries_of(account_of(one))[1:] == [
        ("moved", 30_000, 35_000),
        ("moved", -10_000, 25_000),
        ("refund", -30_000, -5_000),
    ]


def test_what_the_shop_keeps_for_one_pays_what_the_other_owes():
    seller = make_person("cashier")
    one, other = give_credit("Bu Sari"), give_credit("Sari Warung")
    sell_to(one, 30_000, by=seller)
    order = sell_to(other, 8_000, by=seller)
    record_payment(account_of(other), amount=8_000, method="cash", actor=seller)
    set_outcome(order, "owed")
    take_off(order, actor=make_person("supervisor", username="gives"))
    leaving, journal = account_of(other), journal_of(timezone.localdate())

    browser_of("supervisor", username="other").post(
        f"/customers/{one.pk}/merge/?other={other.pk}", {"name": "Bu Sari", "note": ""}
    )

    assert entries_of(leaving)[-1] == ("moved", 8_000, 0)
    assert entries_of(account_of(one)) == [("sale", 30_000, 30_000), ("moved", -8_000, 22_000)]
    assert journal_of(timezone.localdate()) == journal


def move_by_hand(debt: CreditEntry, customer: Customer, amount: int) -> None:
    """Take a debt off its account, and put `amount` rupiah on another account; nothing if it is 0."""
    moved, facts = CreditEntry.Kind.MOVED, {"actor": debt.person, "ref_id": debt.ref_id}
    with transaction.atomic():
        enter(lock_account(debt.account_id), moved, -debt.amount, undoes=debt, **facts)
        if amount:
            enter(lock_account(customer.credit.pk), moved, amount, due_on=debt.due_on, replaces=debt, **facts)


def test_the_database_refuses_money_that_leaves_an_account_and_comes_to_no_other():
    one, other = give_credit("Bu Sari"), give_credit("Sari Warung")
    sell_to(one, 5_000, by=make_person("cashier"))

    for amount, refusal in ((0, "moves to no other account"), (4_000, "is not moved so")):
        with pytest.raises(DatabaseError, match=refusal):
            move_by_hand(CreditEntry.objects.get(), other, amount)

        assert (owed_by(one), owed_by(other)) == (5_000, 0)


def test_a_sale_during_a_merge_of_two_who_owe_is_owed_once_or_refused():
    seller, actor = make_person("cashier"), make_person("supervisor")
    for number in range(4):
        one, other = give_credit(f"Bu Sari {number}"), give_credit(f"Sari Warung {number}")
        sell_to(one, 5_000, by=seller), sell_to(other, 7_000, by=seller)

        sold, merged = at_once(partial(sell_to, other, 10_000, by=seller), partial(merge, one, other, actor=actor))

        total = 12_000 + (0 if isinstance(sold, CreditRefused) else 10_000)
        if isinstance(merged, CreditRefused):  # the sale came in between
            assert (merged.reason, owed_by(one), owed_by(other)) == ("sold_meanwhile", 5_000, total - 5_000)
        else:
            assert (merged.pk, owed_by(one)) == (one.pk, total)


def test_a_sale_on_credit_during_a_merge_is_owed_by_the_one_who_stays_or_refused():
    seller, actor = make_person("cashier"), make_person("supervisor")
    for number in range(5):
        one, other = give_credit(f"Bu Sari {number}"), give_credit(f"Sari Warung {number}")

        sold, merged = at_once(partial(sell_to, other, 10_000, by=seller), partial(merge, one, other, actor=actor))

        left = Customer.objects.filter(name__endswith=str(number))
        if isinstance(sold, CreditRefused):  # the merge was first: the account has no customer any more
            assert (merged.pk, owed_by(one), left.count()) == (one.pk, 0, 1)
        else:
            assert (merged.pk, owed_by(other), left.count()) == (other.pk, 10_000, 1)


def test_a_number_that_a_colleague_saves_during_a_merge_stays_once():
    kept, gone = make_customer("Bu Sari"), make_customer("Sari Warung", (ONE, "phone"))
    gone.numbers.update(note="suami")
    actor = make_person("supervisor")

    with transaction.atomic():
        SavedNumber.objects.create(customer=kept, destination=ONE, kind="phone", note="rumah")
        meanwhile = Meanwhile(lambda: merge(kept, gone, actor=actor))
        assert meanwhile.is_blocked_by_us()
    meanwhile.end()

    assert Customer.objects.get() == kept
    assert [*kept.numbers.values_list("destination", "note")] == [(ONE, "rumah · suami")]


def test_a_merge_waits_for_a_sale_on_credit_that_is_being_committed():
    seller, actor = make_person("cashier"), make_person("supervisor")
    one, other = give_credit("Bu Sari"), give_credit("Sari Warung")

    with transaction.atomic():
        put_on_credit(other, ref_id="B1", amount=10_000, actor=seller, branch=FIRST)
        merging = Meanwhile(partial(merge, one, other, actor=actor))
        assert merging.is_blocked_by_us()
    merging.end()

    assert (Customer.objects.get().pk, owed_by(other)) == (other.pk, 10_000)


def test_an_erasure_waits_for_a_sale_on_credit_that_is_being_committed():
    seller, actor = make_person("cashier"), make_person("supervisor")
    customer = give_credit("Bu Sari")

    with transaction.atomic():
        put_on_credit(customer, ref_id="B1", amount=10_000, actor=seller, branch=FIRST)
        erasing = Meanwhile(partial(erase, customer.pk, actor=actor))
        assert erasing.is_blocked_by_us()
    with pytest.raises(MoneyOpen):
        erasing.end()

    assert owed_by(customer) == 10_000


def test_saved_views_of_the_merged_show_the_one_who_stays():
    one, other = make_customer("Bu Sari", (ONE, "phone")), make_customer("Sari Warung", (OTHER, "phone"))
    browser = browser_of("supervisor")
    for name, query in (("Hers", f"status=success&customer={other.pk}"), ("Bought", f"buyer={other.pk}")):
        browser.post(f"/orders/views/save/?{query}", {"name": name})
    browser.post(f"/orders/views/save/?customer={other.pk}1", {"name": "Of another"})

    merge(one, other, actor=make_person("supervisor", username="merges"))

    assert dict(SavedView.objects.values_list("name", "query")) == {
        "Hers": f"status=success&customer={one.pk}",
        "Bought": f"buyer={one.pk}",
        "Of another": f"customer={other.pk}1",
    }
