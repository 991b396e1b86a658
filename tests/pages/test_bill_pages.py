"""Checking a bill and paying it on the pages: one press, one payment, and every refusal in its own words."""

import datetime as dt
import re

import pytest
from django.utils import timezone

from bills.models import BillCheck
from purchases.models import Order
from purchases.order_life import HoldReason, Status
from tests.factories import make_biller, make_check, make_order, make_payment, make_product
from tests.pages.conftest import browser_of, read_balance
from tests.pages.test_buying import hidden, words

pytestmark = pytest.mark.django_db


def pay(client, check, amount=None):
    return client.post(f"/bills/{check.ref_id}/pay/", {"amount": check.total if amount is None else amount})


def expire(check):
    BillCheck.objects.filter(pk=check.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))


# --- choosing and checking ----------------------------------------------------------------------------------------


def test_billers_are_found_by_words_and_grouped_by_category(cashier):
    gresik = make_biller()
    other = make_biller(name="IndiHome", category="internet-tv", brand="indihome", search_text="indihome")
    make_product()

    everything = words(cashier.get("/bills/check/"))
    found = cashier.get("/bills/check/?q=gresik", headers={"HX-Request": "true"})

    assert "2 billers" in everything
    assert "Telkomsel" not in everything
    assert f"/bills/check/{gresik.code}/" in found.content.decode()
    assert f"/bills/check/{other.code}/" not in found.content.decode()
    assert found["HX-Replace-Url"] == "/bills/check/?q=gresik"


def test_what_begins_as_typed_and_what_is_checked_most_comes_first(cashier):
    usual, first, typed = (
        make_biller(name=name, search_text=name.lower()) for name in ("Z water", "A water", "Water C")
    )
    make_check(product=usual)

    def order(query):
        page = cashier.get(f"/bills/check/?q={query}").content.decode()
        return sorted((usual, first, typed), key=lambda biller: page.index(f"/bills/check/{biller.code}/"))

    assert order("") == [usual, first, typed]
    assert order("water") == [typed, usual, first]


def test_the_catalogue_leads_from_a_bill_to_its_check_for_those_who_may(cashier, auditor):
    biller = make_biller()

    assert f"/bills/check/{biller.code}/" in cashier.get("/products/").content.decode()
    assert f"/bills/check/{biller.code}/" not in auditor.get("/products/").content.decode()


def test_a_number_starts_one_check_and_leads_to_its_page(cashier):
    biller = make_biller()

    answer = cashier.post(f"/bills/check/{biller.code}/", {"destination": "1234-5678 90"})

    check = BillCheck.objects.get()
    assert answer["Location"] == f"/bills/{check.ref_id}/"
    assert (check.product, check.destination, check.checked_by.username) == (biller, "1234567890", "cashier")


@pytest.mark.parametrize(
    ("category", "label", "inputmode"),
    [
        ("bpjs", "Participant or VA number", "numeric"),
        ("multifinance", "Contract number", "numeric"),
        ("pln-pascabayar", "Meter or customer number", "numeric"),
        ("hp-pascabayar", "Phone number", "tel"),
        ("internet-tv", "Customer number", "text"),
    ],
)
def test_each_kind_of_biller_asks_for_its_own_number(cashier, category, label, inputmode):
    biller = make_biller(category=category, brand=category)

    page = cashier.get(f"/bills/check/{biller.code}/").content.decode()

    assert f">{label}<" in page
    assert f'inputmode="{inputmode}"' in page


def test_a_number_that_cannot_be_right_is_said_beside_the_field_and_nothing_is_asked(cashier):
    biller = make_biller(category="pln-pascabayar", brand="pln")

    answer = cashier.post(f"/bills/check/{biller.code}/", {"destination": "12"})

    assert "has 11 or 12 digits" in words(answer)
    assert not BillCheck.objects.exists()


@pytest.mark.parametrize(
    ("facts", "said"),
    [({"availability": "inactive"}, "This biller is disturbed"), ({"is_listed": False}, "no longer has this biller")],
)
def test_a_biller_that_cannot_be_asked_says_why_before_and_when_it_is_forced(cashier, facts, said):
    biller = make_biller(**facts)

    page = cashier.get(f"/bills/check/{biller.code}/")
    forced = cashier.post(f"/bills/check/{biller.code}/", {"destination": "1234567890"}, follow=True)

    assert said in words(page)
    assert re.search(r'type="submit"\s+disabled', page.content.decode())
    assert said in words(forced)
    assert not BillCheck.objects.exists()


def test_a_prepaid_product_has_no_bill_to_check(cashier):
    assert cashier.get(f"/bills/check/{make_product().code}/").status_code == 404


# --- the bill's page ----------------------------------------------------------------------------------------------


def test_while_the_biller_is_asked_the_page_follows_and_then_shows_the_bill(cashier):
    check = make_check("none")
    page = cashier.get(f"/bills/{check.ref_id}/").content.decode()
    live = re.search(r'hx-get="([^"]+/live/[^"]+)"', page).group(1)

    same = cashier.get(live).content.decode()
    answered = make_check(product=check.product)
    facts = {name: getattr(answered, name) for name in ("customer_name", "amount", "admin_fee", "penalty", "total")}
    BillCheck.objects.filter(pk=check.pk).update(
        answer="bill", answered_at=timezone.now(), next_ask_at=None, expires_at=answered.expires_at, **facts
    )
    new = cashier.get(live).content.decode()

    assert "Asking the biller" in page
    assert 'http-equiv="refresh"' in page
    assert "bill-live" not in same
    assert "SITI AMINAH" in new
    assert 'hx-swap-oob="true"' in new


def test_a_bill_shows_customer_periods_penalties_fee_total_and_the_time_that_is_left(cashier):
    details = [
        {"period": "Okt 2026", "amount": 60_000, "penalty": 3_000},
        {"period": "Nov 2026", "amount": 40_000, "penalty": 0},
    ]
    check = make_check(details=details, penalty=3_000, total=105_500)
    read_balance(200_000)

    page = cashier.get(f"/bills/{check.ref_id}/")

    for said in (
        "SITI AMINAH",
        "Okt 2026",
        "Rp60.000",
        "Rp3.000",
        "Rp2.500",
        "Rp105.500",
        "Rp94.500",
        "Payable for 4:5",
    ):
        assert said in words(page)
    assert re.search(r'data-countdown="29\d"', page.content.decode())
    assert hidden(page)["amount"] == "105500"


def test_a_check_that_nobody_asks_about_any_more_can_be_asked_again(cashier):
    check = make_check("none", next_ask_at=None)
    page = cashier.get(f"/bills/{check.ref_id}/")

    said = cashier.post(f"/bills/{check.ref_id}/ask/", follow=True)

    assert "has not answered within an hour" in words(page)
    assert "hx-get" not in re.search(r'<div id="bill-poll"[^>]*>', page.content.decode()).group()
    assert "Asking the biller again." in words(said)
    check.refresh_from_db()
    assert check.next_ask_at


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("BILL_NOT_FOUND", "No bill was found for this number."),
        ("BILL_ALREADY_PAID", "There is nothing to pay for this customer now."),
        ("BILL_NOT_AVAILABLE", "The biller has no bill for this number."),
        ("NOTHING_TO_PAY", "There is nothing to pay."),
        ("INVALID_DESTINATION", "The biller does not know this number."),
        ("PRODUCT_UNAVAILABLE", "The biller cannot be reached at the moment."),
        ("CUT_OFF", "The biller is closed for the night."),
        ("SOMETHING_NEW", "The upstream refused it."),
    ],
)
def test_each_refusal_of_a_check_has_its_own_words_and_no_way_to_pay(cashier, code, said):
    check = make_check("refusal", error_code=code, message="No.")

    page = cashier.get(f"/bills/{check.ref_id}/")

    assert said in words(page)
    assert "/pay/" not in page.content.decode()
    assert f"/bills/{check.ref_id}/again/" in page.content.decode()


def test_an_expired_check_offers_a_new_one_with_a_new_ref_id_and_stays_as_it_was(cashier):
    check = make_check()
    expire(check)

    page = cashier.get(f"/bills/{check.ref_id}/")
    answer = cashier.post(f"/bills/{check.ref_id}/again/")

    new = BillCheck.objects.exclude(pk=check.pk).get()
    assert "This check has expired." in words(page)
    assert "/pay/" not in page.content.decode()
    assert answer["Location"] == f"/bills/{new.ref_id}/"
    assert (new.product, new.destination, new.answer) == (check.product, check.destination, "none")
    check.refresh_from_db()
    assert (check.state, check.total) == ("expired", 102_500)


def test_an_unknown_check_is_a_404(cashier):
    assert cashier.get("/bills/B000000-NOPE/").status_code == 404


# --- paying -------------------------------------------------------------------------------------------------------


def test_the_confirmed_total_is_paid_once_however_often_it_is_pressed(cashier):
    check = make_check()

    answers = [pay(cashier, check), pay(cashier, check)]

    order = Order.objects.get()
    assert [answer["Location"] for answer in answers] == [f"/orders/{order.ref_id}/"] * 2
    assert (order.ref_id, order.kind, order.max_price) == (check.ref_id, "bill", 102_500)
    assert order.placed_by.username == "cashier"


def test_a_total_that_changed_meanwhile_is_shown_old_and_new_and_takes_a_new_confirmation(cashier):
    check = make_check()
    BillCheck.objects.filter(pk=check.pk).update(total=105_000, penalty=2_500)

    asked = pay(cashier, check)

    assert "Rp102.500 → Rp105.000" in words(asked)
    assert not Order.objects.exists()
    cashier.post(f"/bills/{check.ref_id}/pay/", hidden(asked))
    assert Order.objects.get().max_price == 105_000


def test_a_check_that_expired_between_review_and_click_says_so_and_one_click_checks_again(cashier):
    check = make_check()
    expire(check)

    answer = pay(cashier, check)

    assert "This check has expired. Check the bill again, then pay it." in words(answer)
    assert f"/bills/{check.ref_id}/again/" in answer.content.decode()
    assert not Order.objects.exists()


def test_an_older_check_leads_to_the_newer_one(cashier):
    older = make_check()
    newer = make_check(product=older.product)

    answer = pay(cashier, older)

    assert "was checked again meanwhile" in words(answer)
    assert f'href="/bills/{newer.ref_id}/"' in answer.content.decode()
    assert not Order.objects.exists()


def test_a_bill_that_we_have_paid_leads_to_its_payment(cashier):
    first = make_check()
    expire(first)
    make_payment(first, Status.SUCCESS)
    second = make_check(product=first.product)

    answer = pay(cashier, second)

    assert "was already paid with order" in words(answer)
    assert f'href="/orders/{first.ref_id}/"' in answer.content.decode()


def test_a_bill_of_a_paid_period_says_so_before_anything_is_pressed(cashier):
    first = make_check()
    make_payment(first, Status.SUCCESS)
    second = make_check(product=first.product)

    page = cashier.get(second.get_absolute_url())

    assert "This bill is already paid." in words(page)
    assert f'href="/orders/{first.ref_id}/"' in page.content.decode()
    assert 'id="bill-pay"' not in page.content.decode()


def test_an_open_payment_of_the_same_bill_refuses_a_second_and_links_to_it(cashier):
    first = make_check()
    make_payment(first, Status.PENDING)
    second = make_check(product=first.product, period="Des 2026")

    answer = pay(cashier, second)

    assert "is still open" in words(answer)
    assert f'href="/orders/{first.ref_id}/"' in answer.content.decode()


def test_what_has_no_bill_cannot_be_paid_by_force(cashier):
    check = make_check("none")

    answer = pay(cashier, check, amount=1)

    assert "The biller has not answered yet" in words(answer)
    assert not Order.objects.exists()


@pytest.mark.parametrize("amount", ["", "0", "x", "-5"])
def test_an_amount_that_makes_no_sense_pays_nothing(cashier, amount):
    check = make_check()

    assert pay(cashier, check, amount=amount)["Location"] == f"/bills/{check.ref_id}/"
    assert not Order.objects.exists()


def test_a_short_balance_is_said_before_and_does_not_forbid(cashier):
    check = make_check()
    read_balance(100_000)

    assert "The balance is Rp2.500 short." in words(cashier.get(f"/bills/{check.ref_id}/"))
    pay(cashier, check)
    assert Order.objects.count() == 1


# --- a payment that is held or has ended --------------------------------------------------------------------------


def held(check, reason, **facts):
    before = timezone.now() - dt.timedelta(seconds=20)
    BillCheck.objects.filter(pk=check.pk).update(answered_at=before)
    return make_payment(
        check, Status.HELD, hold_reason=reason, sent_at=before + dt.timedelta(seconds=10), next_check_at=None, **facts
    )


@pytest.mark.parametrize("page", ["/bills/{}/", "/orders/{}/"])
def test_a_changed_total_is_looked_at_before_it_can_be_paid(cashier, page):
    check = make_check()
    held(check, HoldReason.AMOUNT_MISMATCH)

    shown = cashier.get(page.format(check.ref_id)).content.decode()

    assert f"/bills/{check.ref_id}/ask/" in shown
    assert f"/bills/{check.ref_id}/pay/" not in shown
    assert f"/orders/{check.ref_id}/again/" not in shown


@pytest.mark.parametrize("page", ["/bills/{}/", "/orders/{}/"])
def test_the_new_total_is_confirmed_and_paid_with_the_same_ref_id(cashier, page):
    check = make_check()
    order = held(check, HoldReason.AMOUNT_MISMATCH)
    BillCheck.objects.filter(pk=check.pk).update(total=105_000, answered_at=timezone.now())

    shown = cashier.get(page.format(check.ref_id))
    cashier.post(f"/bills/{check.ref_id}/pay/", hidden(shown))

    assert "Confirm Rp105.000 (was Rp102.500) and pay" in words(shown)
    order.refresh_from_db()
    assert (order.status, order.max_price, Order.objects.count()) == ("queued", 105_000, 1)


def test_a_short_balance_is_paid_again_with_the_same_ref_id_while_the_check_lives(cashier):
    check = make_check()
    order = held(check, HoldReason.BALANCE_SHORT)

    page = cashier.get(f"/orders/{order.ref_id}/")
    answers = [pay(cashier, check), pay(cashier, check)]

    assert "Pay Rp102.500 again" in words(page)
    assert "Someone who may resolve orders" not in words(page)
    assert {answer["Location"] for answer in answers} == {f"/orders/{order.ref_id}/"}
    order.refresh_from_db()
    assert order.status == "queued"


def test_a_payment_held_until_its_check_expired_is_checked_again(cashier):
    check = make_check()
    order = held(check, HoldReason.BALANCE_SHORT)
    expire(check)

    page = cashier.get(f"/orders/{order.ref_id}/")
    refused = pay(cashier, check)

    assert "held until its check expired" in words(page)
    assert f"/bills/{check.ref_id}/again/" in page.content.decode()
    assert "This check has expired" in words(refused)
    order.refresh_from_db()
    assert order.status == "held"


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (Status.FAILED, "", "The payment failed, and the upstream refunds what was charged."),
        (Status.REJECTED, "INQUIRY_EXPIRED", "The payment came after the check had expired."),
        (Status.REJECTED, "BILL_ALREADY_PAID", "It was paid elsewhere between the check and the payment."),
        (Status.REJECTED, "BILL_NOT_FOUND", "The upstream no longer knows this check."),
        (Status.CANCELLED, "", "The payment was cancelled before anything was charged."),
    ],
)
@pytest.mark.parametrize("page", ["/bills/{}/", "/orders/{}/"])
def test_each_end_without_payment_says_so_and_offers_a_new_check(cashier, page, status, code, said):
    check = make_check()
    make_payment(check, status, error_code=code)

    shown = cashier.get(page.format(check.ref_id))

    assert said in words(shown)
    assert f"/bills/{check.ref_id}/again/" in shown.content.decode()
    assert f"/bills/{check.ref_id}/pay/" not in shown.content.decode()


def test_a_paid_bill_shows_its_facts_on_the_order_and_the_receipt(cashier):
    check = make_check()
    make_payment(check, Status.SUCCESS, sn="SN-1", price=102_500)

    shown = cashier.get(f"/orders/{check.ref_id}/")

    assert "SITI AMINAH" in words(shown)
    assert f"/orders/{check.ref_id}/receipt/" in shown.content.decode()
    assert f"/products/{check.product_code}/buy/" not in shown.content.decode()


def test_a_held_bill_can_be_cancelled_by_someone_who_may_resolve_and_is_never_sent_as_a_purchase(admin):
    check = make_check()
    order = held(check, HoldReason.BALANCE_SHORT)

    page = admin.get(f"/orders/{order.ref_id}/").content.decode()
    admin.post(f"/orders/{order.ref_id}/again/")
    order.refresh_from_db()
    assert order.status == "held"
    admin.post(f"/orders/{order.ref_id}/cancel/")

    assert f"/orders/{order.ref_id}/again/" not in page
    order.refresh_from_db()
    assert order.status == "cancelled"


def test_a_payment_that_waits_for_the_biller_says_that_it_goes_by_itself(cashier):
    check = make_check()
    make_payment(check, Status.QUEUED, error_code="INQUIRY_PENDING")

    assert "is sent by itself as soon as it is ready" in words(cashier.get(f"/orders/{check.ref_id}/"))


def test_an_order_of_a_purchase_shows_nothing_of_bills(cashier):
    order = make_order(Status.SUCCESS)

    assert "bill-panel" not in cashier.get(f"/orders/{order.ref_id}/").content.decode()


# --- the list -----------------------------------------------------------------------------------------------------


def test_the_list_is_searched_by_number_name_and_ref_id_and_narrowed_by_state(cashier):
    valid = make_check(destination="7777700001", customer_name="BUDI")
    refused = make_check("refusal", destination="8888800002", error_code="BILL_NOT_AVAILABLE", message="None.")

    def refs(query):
        page = cashier.get(f"/bills/?{query}").content.decode()
        return {check.ref_id for check in (valid, refused) if f"/bills/{check.ref_id}/" in page}

    assert refs("") == {valid.ref_id, refused.ref_id}
    assert refs("q=77700") == {valid.ref_id}
    assert refs("q=budi") == {valid.ref_id}
    assert refs(f"q={refused.ref_id}") == {refused.ref_id}
    assert refs("state=not_payable") == {refused.ref_id}
    assert refs("state=paid") == set()
    assert "No bill matches" in words(cashier.get("/bills/?state=paid"))
    assert "A filter makes no sense" in words(cashier.get("/bills/?state=nonsense"))


def test_the_list_tells_the_payment_that_is_under_way(cashier):
    make_payment(make_check(), Status.PENDING)

    page = words(cashier.get("/bills/"))

    assert "In process" in page
    assert "Payable " not in page.split("Checked")[-1]


def test_the_list_refreshes_itself_only_while_somebody_is_asked(cashier):
    make_check()
    assert "hx-select" not in cashier.get("/bills/").content.decode()

    make_check("none")
    assert 'hx-select="#bills"' in cashier.get("/bills/").content.decode()


def test_many_checks_are_paged(cashier):
    biller = make_biller()
    for i in range(52):
        make_check(product=biller, destination=f"12345678{i:02}")

    first = cashier.get("/bills/").content.decode()
    older = re.search(r'href="(\?older=[^"]+)"', first).group(1)

    assert first.count('class="order-row"') == 50
    assert cashier.get(f"/bills/{older}").content.decode().count('class="order-row"') == 2


def test_an_empty_list_leads_to_the_first_check(cashier):
    assert "No bills checked yet" in words(cashier.get("/bills/"))


# --- who may ------------------------------------------------------------------------------------------------------


def test_an_auditor_sees_bills_and_can_do_nothing_about_them(auditor):
    check = make_check()
    page = auditor.get(f"/bills/{check.ref_id}/")

    assert "Someone who may pay bills can pay it while it lives." in words(page)
    assert "<form method" not in page.content.decode().split('id="bill-live"')[1].split("</main>")[0]
    assert auditor.get("/bills/").status_code == 200
    assert auditor.get("/bills/check/").status_code == 403
    for action in ("pay", "ask", "again"):
        assert auditor.post(f"/bills/{check.ref_id}/{action}/", {"amount": check.total}).status_code == 403
    assert BillCheck.objects.count() == 1
    assert not Order.objects.exists()


def test_somebody_without_a_role_sees_no_bill():
    check = make_check()
    nobody = browser_of()

    assert nobody.get("/bills/").status_code == 403
    assert nobody.get(f"/bills/{check.ref_id}/").status_code == 403


def test_the_address_of_a_refused_payment_opened_again_leads_to_the_bill(cashier):
    check = make_check()

    answer = cashier.get(f"/bills/{check.ref_id}/pay/")

    assert (answer.status_code, answer.url) == (302, f"/bills/{check.ref_id}/")
    assert not Order.objects.exists()


@pytest.mark.parametrize("action", ["ask", "again"])
def test_what_changes_something_is_never_done_by_a_link(cashier, action):
    check = make_check()

    assert cashier.get(f"/bills/{check.ref_id}/{action}/").status_code == 405
