"""What customers are to get back: a to-do of the whole shop until somebody notes that they have it, once."""

from functools import partial

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent
from customers.models import Customer, SavedNumber
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Refund
from drawers.services import close_shift, give_back, note_owed, sweep_sales
from purchases.models import GivenBack, Order
from purchases.services import note_given_back
from tests.drawers.helpers import begin, end, pieces_of, sell
from tests.people import browser_of, make_person
from tests.plans import MANY, asked, copy_many, too_wide
from tests.purchases.helpers import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def listed(browser, query: str = "") -> list[str]:
    """The ref_ids on the list."""
    page = browser.get(f"/refunds/{query}").content.decode()
    return [order.ref_id for order in Order.objects.order_by("-pk") if f">{order.ref_id}<" in page]


def shop_with_drawers(seller: str = "cashier"):
    """Somebody who sells without a shift, in a shop whose drawers are in use."""
    shift = begin(make_person("supervisor", username="opener"), cash=100_000)
    return shift, make_person(seller, username="seller")


def test_a_failed_sale_waits_for_the_whole_shop_until_it_is_given_back():
    shift = begin(cash=100_000)
    order = end(sell(shift.cashier, 10_500), "failed")
    SavedNumber.objects.create(
        customer=Customer.objects.create(name="Bu Sari"), destination=order.destination, kind="phone"
    )
    other = browser_of("cashier", username="other")

    assert listed(other) == [order.ref_id]
    page = other.get("/refunds/").content.decode()
    assert "Bu Sari" in page
    assert 'id="count-drawer"' in other.get("/orders/").content.decode()
    other.force_login(shift.cashier)
    other.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "cash", "shift": shift.pk})

    assert listed(other) == []
    assert listed(browser_of("auditor"), "?state=given") == [order.ref_id]
    refund = Refund.objects.get()
    assert (refund.amount, refund.method, refund.given_by) == (10_500, "cash", shift.cashier)
    assert (refund.entry.amount, refund.entry.shift) == (-10_500, shift)
    event = AuditEvent.objects.get(kind="given_back")
    assert (event.subject, event.person_id, event.facts["amount"]) == (order.ref_id, shift.cashier_id, 10_500)


@pytest.mark.parametrize("method", ["transfer", "qris"])
def test_a_sale_in_no_drawer_is_given_back_by_transfer(method):
    _shift, seller = shop_with_drawers()
    order = end(sell(seller, 10_500), "rejected")
    browser = browser_of("cashier")
    assert listed(browser) == [order.ref_id]
    assert 'id="give-back"' in browser.get(order.get_absolute_url()).content.decode()

    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": method, "note": "BCA"})

    refund = Refund.objects.get()
    assert (refund.method, refund.entry, refund.note, refund.amount) == (method, None, "BCA", 10_500)
    assert not DrawerEntry.objects.filter(kind="refund").exists()
    assert 'id="sale-refund"' in browser.get(order.get_absolute_url()).content.decode()


def test_a_sale_in_no_drawer_is_given_back_in_cash_out_of_one():
    shift, seller = shop_with_drawers()
    order = end(sell(seller, 10_500), "failed")

    with pytest.raises(DrawerRefused) as refusal:
        give_back(order, method="cash", actor=seller)
    assert refusal.value.reason == "no_shift"
    entry = give_back(order, method="cash", shift=shift, actor=shift.cashier)

    assert (entry.amount, entry.sold_in, Refund.objects.get().entry) == (-10_500, None, entry)


def test_who_paid_nothing_is_owed_nothing():
    early = end(sell(make_person("cashier", username="early")), "failed")  # before drawers are in use
    shift = begin(make_person("supervisor", username="opener"))
    end(sell(None), "failed")  # by a command
    sell(shift.cashier)
    end(sell(shift.cashier), "success")
    reversed_one = end(early, "reversed")

    assert note_owed() == 1
    assert note_owed() == 0
    assert Refund.objects.get().order == reversed_one


def test_a_note_at_the_order_settles_it():
    shift = begin()
    order = end(sell(shift.cashier), "reversed")
    note_owed()

    note_given_back(order, actor=shift.cashier, note="Cash from the safe")
    note_owed()

    refund = Refund.objects.get()
    assert (refund.given_by, refund.note, refund.method) == (shift.cashier, "Cash from the safe", "")
    assert listed(browser_of("supervisor")) == []


def test_two_who_give_back_in_different_ways_give_once():
    shift, seller = shop_with_drawers()
    order = end(sell(seller, 5_000), "reversed")
    by_cash = partial(give_back, order, method="cash", shift=shift, actor=shift.cashier)
    by_transfer = partial(give_back, order, method="transfer", actor=seller)

    results = at_once(by_cash, by_transfer, note_owed)

    assert [getattr(result, "reason", "") for result in results].count("given_back") == 1, results
    refund = Refund.objects.get()
    assert refund.is_given
    assert DrawerEntry.objects.filter(kind="refund").count() == (refund.method == "cash")
    assert GivenBack.objects.count() == 1


def test_the_database_keeps_what_was_given():
    shift = begin()
    order = end(sell(shift.cashier), "failed")
    give_back(order, method="cash", shift=shift, actor=shift.cashier)

    for change in ("SET amount = 1", "SET given_at = NULL", "SET method = 'qris'"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE drawers_refund {change}")
    with pytest.raises(DatabaseError):
        Refund.objects.all().delete()
    other = end(sell(shift.cashier), "failed")
    noted = {"amount": 1, "since": other.final_at, "given_at": other.final_at, "given_by": shift.cashier}
    with pytest.raises(DatabaseError):
        Refund.objects.create(order=other, method="cash", **noted)


def test_what_ends_after_the_closing_is_on_the_list():
    shift = begin(cash=100_000)
    order = sell(shift.cashier, 5_000)
    close_shift(shift, pieces=pieces_of(105_000), actor=shift.cashier)
    end(order, "failed")

    assert listed(browser_of("auditor")) == [order.ref_id]


def test_the_text_for_the_customer_names_shop_amount_and_number():
    shift = begin()
    order = end(sell(shift.cashier, 10_500, destination="081234567890"), "failed")
    sweep_sales()
    browser = browser_of("supervisor")

    page = browser.get(order.get_absolute_url()).content.decode()

    text = page.split('id="refund-text"')[1].split(">", 1)[1].split("</textarea>")[0]
    assert "Rp10.500" in text
    assert order.ref_id in text
    assert 'href="https://wa.me/6281234567890?text=' in page.split('id="refund-message"')[1]
    assert 'id="refund-message"' not in browser_of("auditor").get(order.get_absolute_url()).content.decode()


def test_who_may_not_sell_notes_nothing():
    shift = begin()
    order = end(sell(shift.cashier), "failed")
    assert browser_of("viewer").get("/refunds/").status_code == 403

    answer = browser_of("auditor").post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "transfer"})

    assert answer.status_code == 403
    assert not Refund.objects.filter(given_at__isnull=False).exists()


def test_the_list_searches_and_stays_flat():
    shift = begin(cash=100_000)
    order = end(sell(shift.cashier, destination="081234567890"), "failed")
    note_owed()
    old = end(sell(shift.cashier), "failed")
    give_back(old, method="cash", shift=shift, actor=shift.cashier)
    long_ago = "o.{0} - interval '30 days' - n * interval '1 minute'"
    names = {"ref_id": "'OLD' || n", "idempotency_key": "'OLD' || n"}
    copy_many("purchases_order", old, id="1000000 + n", final_at=long_ago.format("final_at"), **names)
    given = {"order_id": "1000000 + n", "id": "1000000 + n", "entry_id": "NULL", "method": "'qris'"}
    copy_many("drawers_refund", Refund.objects.get(order=old), since=long_ago.format("since"), **given)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE purchases_order, drawers_refund, drawers_drawerentry")
    browser = browser_of("admin")
    for query in ("", "?state=given", "?state=all", "?q=081234567890", f"?q={order.ref_id}"):
        browser.get(f"/refunds/{query}")
        with CaptureQueriesContext(connection) as queries:
            page = browser.get(f"/refunds/{query}")
        assert (order.ref_id in page.content.decode()) == (query != "?state=given")
        assert len(queries) <= 10
        assert list(too_wide(asked(queries.captured_queries), {"purchases_order", "drawers_refund"})) == []
    assert Refund.objects.count() > MANY
