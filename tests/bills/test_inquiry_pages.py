"""A person asks a biller, and sees its answer."""

import re

import pytest
from django.utils import timezone

from bills.models import BillCheck
from testing.factories import make_biller, make_check, make_product
from tests.bills.helpers import at_counter, expire, leads_to_counter, posts_on, standing_on
from tests.core.helpers import codes, counts_at, has_id, hidden, next_question, words, words_at
from tests.gateway.helpers import read_balance
from upstream.error_codes import meaning_of

pytestmark = pytest.mark.django_db


# --- asking the biller --------------------------------------------------------------------------------------------


def ask(client, biller, number):
    """Press the button of the biller and the number, at the counter."""
    return client.post("/counter/check/", {"product": biller.code, "destination": number})


def test_the_catalogue_leads_those_who_may_to_the_counter(cashier, auditor):
    biller = make_biller()
    link = f'href="/counter/?product={biller.code}"'

    assert link in cashier.get("/products/").content.decode()
    assert link not in auditor.get("/products/").content.decode()


def test_a_number_starts_one_check_and_leads_to_its_page(cashier):
    biller = make_biller()
    shown = cashier.get("/counter/review/", {"product": biller.code, "q": "1234-5678 90"})

    answer = ask(cashier, biller, hidden(shown)["destination"])

    check = BillCheck.objects.get()
    assert answer["Location"] == f"/counter/bills/{check.ref_id}/"
    assert (check.product, check.destination, check.checked_by.username) == (biller, "1234567890", "cashier")


def test_each_kind_of_biller_asks_for_its_own_number(cashier):
    for category, label, inputmode in [
        ("bpjs", "Participant or VA number", "numeric"),
        ("multifinance", "Contract number", "numeric"),
        ("pln-pascabayar", "Meter or customer number", "numeric"),
        ("hp-pascabayar", "Phone number", "tel"),
        ("internet-tv", "Customer number", "text"),
    ]:
        biller = make_biller(category=category, brand=category)

        page = cashier.get(f"/counter/?product={biller.code}")

        assert label in words_at(page, 'for="counter-q"'), category
        assert f'inputmode="{inputmode}"' in page.content.decode(), category


def test_what_cannot_be_asked_says_why_and_nothing_is_asked(cashier):
    wrong = ask(cashier, make_biller(category="pln-pascabayar", brand="pln"), "12")
    assert counts_at(wrong, "data-fault") == [11, 12]
    assert 'value="12"' in wrong.content.decode()
    for facts, explained_by in (({"availability": "inactive"}, "not-available"), ({"is_listed": False}, "not-listed")):
        biller = make_biller(**facts)
        assert has_id(cashier.get(f"/counter/?product={biller.code}"), explained_by)
        assert words_at(ask(cashier, biller, "1234567890"), "data-fault"), explained_by
    assert ask(cashier, make_product(), "1234567890").status_code == 404
    assert cashier.get("/bills/B000000-NOPE/").status_code == 404
    assert not BillCheck.objects.exists()


# --- the bill's page ----------------------------------------------------------------------------------------------


def test_the_page_follows_the_biller_and_shows_the_bill(cashier):
    check = make_check("none")
    page = cashier.get(f"/bills/{check.ref_id}/")
    live = next_question(page)[0]

    same = cashier.get(live).content.decode()
    answered = make_check(product=check.product)
    facts = {name: getattr(answered, name) for name in ("customer_name", "amount", "admin_fee", "penalty", "total")}
    BillCheck.objects.filter(pk=check.pk).update(
        answer="bill", answered_at=timezone.now(), next_poll_at=None, expires_at=answered.expires_at, **facts
    )
    new = cashier.get(live).content.decode()

    assert standing_on(page) == "asking"
    assert 'http-equiv="refresh"' in page.content.decode()
    assert "bill-live" not in same
    assert "SITI AMINAH" in new
    assert 'hx-swap-oob="true"' in new


@pytest.mark.usefixtures("costs_shown")
def test_a_bill_shows_its_facts_and_the_time_left(cashier):
    details = [
        {"period": "Okt 2026", "amount": 60_000, "penalty": 3_000},
        {"period": "Nov 2026", "amount": 40_000, "penalty": 0},
    ]
    check = make_check(details=details, penalty=3_000, total=105_500)
    read_balance(200_000)

    page, shown = cashier.get(f"/bills/{check.ref_id}/"), at_counter(cashier, check)

    for answer in (page, shown):
        for fact in ("SITI AMINAH", "Okt 2026", "Rp60.000", "Rp3.000", "Rp2.500", "Rp105.500", "Rp94.500"):
            assert fact in words(answer)
        assert re.search(r"data-left>4:5\d<", answer.content.decode())
        assert re.search(r'data-countdown="29\d"', answer.content.decode())
    assert hidden(shown)["amount"] == "105500"


def test_an_unanswered_check_can_be_asked_again(cashier):
    check = make_check("none", next_poll_at=None)
    page = cashier.get(f"/bills/{check.ref_id}/")

    answer = cashier.post(f"/counter/bills/{check.ref_id}/ask/", follow=True)

    assert standing_on(page) == "unanswered"
    assert next_question(page) is None
    assert "asking_again" in codes(answer)
    check.refresh_from_db()
    assert check.next_poll_at


def test_each_refused_check_offers_what_can_succeed(cashier):
    for code, offered, corrects in [
        ("BILL_NOT_FOUND", {"again"}, False),
        ("BILL_ALREADY_PAID", set(), False),
        ("BILL_NOT_AVAILABLE", {"again"}, True),
        ("NOTHING_TO_PAY", set(), False),
        ("INVALID_DESTINATION", {"again"}, True),
        ("PRODUCT_UNAVAILABLE", {"again"}, False),
        ("CUT_OFF", {"again"}, False),
        ("PRODUCT_NOT_FOUND", set(), False),
    ]:
        check = make_check("refusal", error_code=code, message="No.")

        page = at_counter(cashier, check)

        assert standing_on(page) == "refused", code
        assert posts_on(page) == offered, code
        correcting = f'href="/counter/?product={check.product_code}&amp;q={check.destination}"'
        assert (correcting in page.content.decode()) == corrects, code
        assert leads_to_counter(cashier, check) == bool(offered or corrects), code
        assert str(meaning_of(code).words) in words(page), code


def test_an_expired_check_stays_and_offers_a_new_one(cashier):
    check = make_check()
    expire(check)

    page = at_counter(cashier, check)
    answer = cashier.post(f"/counter/bills/{check.ref_id}/again/")

    new = BillCheck.objects.exclude(pk=check.pk).get()
    assert standing_on(page) == "expired"
    assert posts_on(page) == {"again"}
    assert answer["Location"] == f"/counter/bills/{new.ref_id}/"
    assert (new.product, new.destination, new.answer) == (check.product, check.destination, "none")
    check.refresh_from_db()
    assert (check.state, check.total) == ("expired", 102_500)
