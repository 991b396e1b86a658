"""The counter's page: the field's offers, the review, sending it once, and the strip beside it."""

import datetime as dt
import re

import pytest
import time_machine
from django.contrib.auth.models import Group, Permission
from django.urls import reverse
from django.utils import timezone

from bills.models import BillCheck
from catalogue.marks import mark_of
from catalogue.models import Brand, Category, PriceRule, ProductHealth
from customers.models import Customer, SavedNumber
from drawers.models import DrawerEntry, Payment
from drawers.services import PaymentFacts, close_shift, open_shift_of, pay_in
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from testing.factories import make_biller, make_check, make_order, make_product
from testing.people import browser_of, make_person
from tests.core.helpers import codes, has_id, hidden, next_question, words, words_at
from tests.counter.helpers import NUMBER, offers, review, send, shelf_of_telkomsel, tiles
from tests.credit.helpers import give_credit, owed_by, sell_to
from tests.drawers.helpers import begin, end, make_drawer, pieces_of, sell
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db


@pytest.fixture
def telkomsel():
    return shelf_of_telkomsel()


def asks(page):
    """The address that the bill in the panel asks by itself; "" when it asks nothing."""
    match = re.search(r'hx-get="(/counter/bills/[^"]+)" hx-trigger="every', page.content.decode())
    return match[1] if match else ""


def test_a_number_offers_its_operators_denominations(cashier, telkomsel):
    make_product(name="XL 10.000", brand="xl").brand.__class__.objects.filter(code="xl").update(name="XL")

    page = offers(cashier, NUMBER)

    assert words_at(page, 'id="counter-operator"') == "Telkomsel"
    assert tiles(page)[:3] == ["5.000", "10.000", "15.000"]
    assert len(tiles(page)) == 8
    assert "Rp12.000" in words(page)


def test_a_denomination_picks_its_tile_and_the_tiles_stay(cashier, telkomsel):
    before, after = offers(cashier, NUMBER), offers(cashier, f"{NUMBER} 10")

    assert tiles(after) == tiles(before)
    assert tiles(before, picked=True) == []
    assert tiles(after, picked=True) == ["10.000"]


def test_a_denomination_that_nobody_sells_picks_nothing(cashier, telkomsel):
    page = offers(cashier, f"{NUMBER} 12")

    assert has_id(page, "counter-lacking")
    assert tiles(page, picked=True) == []
    assert not has_id(review(cashier, f"{NUMBER} 12"), "counter-review")


def test_what_the_number_bought_last_comes_first(cashier, telkomsel):
    make_order(Status.SUCCESS, product=telkomsel[50_000], destination=NUMBER)
    make_order(Status.FAILED, product=telkomsel[5_000], destination=NUMBER)

    page = offers(cashier, NUMBER)

    assert tiles(page)[0] == "50.000"
    assert tiles(page, picked=True) == ["50.000"]
    assert "last time" in words(page)


def test_a_tile_says_how_its_product_fares_and_what_is_off_cannot_be_chosen(cashier, telkomsel):
    soon = timezone.now() + dt.timedelta(minutes=5)
    ProductHealth.objects.create(
        product=telkomsel[5_000], ended=10, failed=0, slow_until=soon, counted_at=timezone.now()
    )
    telkomsel[10_000].availability = "inactive"
    telkomsel[10_000].save()

    page = offers(cashier, f"{NUMBER} 10")

    assert 'data-health="slow"' in page.content.decode()
    assert tiles(page, picked=True) == []
    assert re.search(r'aria-disabled="true"\s+data-product="T10000"', page.content.decode())
    assert not has_id(review(cashier, f"{NUMBER} 10", pick="T10000"), "counter-review")


def test_below_cost_only_who_may_sell_it_can_pick_its_tile(cashier, telkomsel):
    shown = review(cashier, f"{NUMBER} 10")
    telkomsel[10_000].price = 12_500
    telkomsel[10_000].save()
    is_off = re.compile(r'aria-disabled="true"\s+data-product="T10000"')

    page = review(cashier, f"{NUMBER} 10")
    assert is_off.search(page.content.decode())
    assert has_id(page, "counter-off")
    page = send(cashier, shown)  # of the review that was open before
    assert codes(page) == {"PriceMoved"}
    assert "note-warn" not in page.content.decode()
    assert words_at(page, 'data-code="PriceMoved"') == words_at(page, 'id="no-sale-below-cost"') != ""
    page = review(browser_of("supervisor"), f"{NUMBER} 10")
    assert not is_off.search(page.content.decode())
    assert has_id(page, "below-cost")


def test_a_saved_name_offers_its_numbers(cashier, telkomsel):
    sari = Customer.objects.create(name="Bu Sari")
    SavedNumber.objects.create(customer=sari, destination=NUMBER, kind="phone")

    page = offers(cashier, "sari")

    assert tiles(page) == ["Bu Sari"]
    make_product(code="D1", name="Telkomsel 1 GB / 1 Hari")  # one letter from the name
    assert tiles(offers(cashier, "sari")) == ["Bu Sari"]
    assert tiles(offers(cashier, "hari")) == ["Telkomsel 1 GB / 1 Hari"]
    assert f'data-fills="{NUMBER} "' in page.content.decode()
    assert "Bu Sari" in words_at(offers(cashier, NUMBER), 'id="counter-known"')


def test_the_idle_field_offers_the_own_numbers_of_today(cashier, telkomsel):
    me = User.objects.get(username="cashier")
    for owner, number in (
        (me, NUMBER),
        (me, "081200000002"),
        (me, NUMBER),
        (make_person("supervisor"), "081200000003"),
    ):
        make_order(Status.SUCCESS, product=telkomsel[10_000], destination=number, placed_by=owner)

    page = cashier.get("/counter/")

    assert (tiles(page), tiles(page, picked=True)) == (["0812 3456 7890", "0812 0000 0002"], [])
    assert f'data-fills="{NUMBER} "' in page.content.decode()
    assert not has_id(browser_of("supervisor", username="third").get("/counter/"), "counter-numbers")


def test_eleven_digits_offer_token_and_bill(cashier):
    make_product(code="PLN50", name="Token PLN 50.000", category="token-pln", brand="pln", price=50_500)
    make_biller(code="PLNPASCA", name="PLN Pascabayar", category="pln-pascabayar", brand="plnpasca")

    assert tiles(offers(cashier, "12345678901")) == ["50.000"]
    assert tiles(offers(cashier, "12345678901 b"), picked=True) == ["PLN Pascabayar"]


def test_a_brand_has_its_mark_beside_the_number_in_the_review_and_the_strip(cashier, telkomsel):
    mark = str(mark_of("Telkomsel"))
    assert ("#c8102e" in mark, mark_of("Nobody <b>").count("<b")) == (True, 0)
    shown = review(cashier, f"{NUMBER} 10")

    assert shown.content.decode().count(mark) == 2  # the number's operator, and the product
    assert mark in send(cashier, shown).content.decode()


def test_the_empty_field_offers_what_people_buy_and_an_unknown_name_a_new_customer(cashier, telkomsel):
    page = cashier.get("/counter/").content.decode()
    for text in re.findall(r'class="sell-begin" href="[^"]+" data-fills="(pulsa) "', page):
        assert len(tiles(offers(cashier, text))) == 8
    assert page.count("sell-begin") == 5

    unknown = offers(cashier, "Bu Wati").content.decode()
    assert re.search(r'href="(/customers/add/\?name=Bu%20Wati)"', unknown)
    assert 'value="Bu Wati"' in cashier.get("/customers/add/?name=Bu%20Wati").content.decode()


def test_a_product_of_another_operator_offers_the_right_one(cashier, telkomsel):
    page = review(cashier, "081712345678", product="T10000")

    assert has_id(page, "other-operator")
    assert re.search(r'href="/counter/\?q=081712345678\+"\s+data-fills="081712345678 "', page.content.decode())


def test_words_before_a_meter_or_a_game_account_lead_to_its_review(cashier):
    make_product(code="PLN50", name="Token PLN 50.000", category="token-pln", brand="pln", price=50_500)
    Brand.objects.create(category=Category.objects.create(code="game", name="Game"), code="mlbb", name="Mobile Legends")
    make_product(code="ML86", name="Mobile Legends 86 Diamonds", category="game", brand="mlbb", price=22_000)

    assert words_at(review(cashier, "token 50 12345678901"), 'id="review-number"') == "1234 5678 901"
    assert words_at(review(cashier, "mlbb 86 12345678 2001"), 'id="review-number"') == "12345678 (2001)"


def test_a_denomination_that_two_products_have_picks_none(cashier):
    Category.objects.create(code="paket-data", name="Paket Data", type="prepaid")
    for days in (7, 30):
        make_product(code=f"D3-{days}", name=f"Telkomsel 3 GB / {days} Hari", category="paket-data", price=days * 2_000)

    assert (tiles(offers(cashier, f"{NUMBER} d3"), picked=True), len(tiles(offers(cashier, f"{NUMBER} d3")))) == ([], 2)
    assert has_id(review(cashier, f"{NUMBER} d3"), "counter-pick")
    named = words_at(offers(cashier, f"{NUMBER} d3"), 'id="counter-pick"')
    assert "Telkomsel 3 GB / 7 Hari, Telkomsel 3 GB / 30 Hari" in named
    assert tiles(offers(cashier, f"{NUMBER} d3 30"), picked=True) == ["3 GB / 30 Hari"]


@pytest.mark.parametrize("text", ["tagihan pln", "12345678901 tagihan", "tagihan pln 12345678901"])
def test_the_word_for_a_bill_offers_no_token(cashier, text):
    make_product(code="PLN50", name="Token PLN 50.000", category="token-pln", brand="pln", price=50_500)
    make_biller(code="PLNPASCA", name="PLN Pascabayar", category="pln-pascabayar", brand="plnpasca")

    assert tiles(offers(cashier, text)) == ["PLN Pascabayar"]


def test_the_review_shows_the_number_in_fours_and_no_cost(cashier, telkomsel):
    page = review(cashier, f"{NUMBER} 10")

    assert words_at(page, 'id="review-number"') == "0812 3456 7890"
    assert words_at(page, 'id="review-price"') == "Rp12.000"
    assert not has_id(page, "review-cost")
    assert "10.250" not in words(page)
    assert not Order.objects.exists()


def test_who_may_see_costs_sees_cost_and_margin(admin, telkomsel):
    page = review(admin, f"{NUMBER} 10")

    assert "Rp10.250" in words_at(page, 'id="review-cost"')
    assert "+Rp1.750" in words_at(page, 'id="review-cost"')


def test_what_is_sent_is_what_the_review_showed_and_once(cashier, telkomsel):
    shown = review(cashier, f"{NUMBER} 10")

    first, second = send(cashier, shown), send(cashier, shown)

    order = Order.objects.get()
    assert (order.destination, order.product_code, order.selling_price) == (NUMBER, "T10000", 12_000)
    assert order.placed_by == User.objects.get(username="cashier")
    for answer in (first, second):
        assert f'data-sent="{order.ref_id}"' in answer.content.decode()
        assert f'data-ref="{order.ref_id}"' in answer.content.decode()
        assert 'value=""' in re.search(r'<input class="sell-q".*?>', answer.content.decode(), re.DOTALL)[0]


def test_without_a_script_it_takes_more_steps(cashier, telkomsel):
    page = cashier.get(f"/counter/?q={NUMBER}+10")
    [address] = re.findall(r'aria-selected="true"\s+href="([^"]+)"', page.content.decode())
    shown = cashier.get(address.replace("&amp;", "&"))

    answer = cashier.post("/counter/send/", {**hidden(shown), "confirm": "1"}, follow=True)

    assert has_id(shown, "counter-review")
    assert answer.redirect_chain == [("/counter/", 302)]
    assert codes(answer) == {"placed"}
    assert Order.objects.get().ref_id in answer.content.decode()


def test_a_changed_price_is_confirmed_again(cashier, telkomsel):
    shown = review(cashier, f"{NUMBER} 10")
    telkomsel[10_000].selling_price = 12_500
    telkomsel[10_000].save()

    again = send(cashier, shown)

    assert codes(again) == {"SellingPriceMoved"}
    assert words_at(again, 'id="review-price"') == "Rp12.500"
    assert not Order.objects.exists()
    send(cashier, again)
    assert Order.objects.get().selling_price == 12_500


def test_a_repeat_of_today_is_confirmed_by_a_tick(cashier, telkomsel):
    before = make_order(Status.SUCCESS, product=telkomsel[10_000], destination=NUMBER)
    shown = review(cashier, f"{NUMBER} 10")

    assert codes(send(cashier, shown)) == {"RepeatToday"}
    assert Order.objects.count() == 1
    send(cashier, shown, confirm_repeat="1")
    assert Order.objects.exclude(pk=before.pk).get().product_code == "T10000"


def test_after_a_refusal_the_field_and_its_tiles_are_as_they_were(cashier, telkomsel):
    make_order(Status.SUCCESS, product=telkomsel[10_000], destination=NUMBER)
    shown = review(cashier, f"{NUMBER} 10")

    refused = send(cashier, shown)

    assert codes(refused) == {"RepeatToday"}
    assert tiles(refused, picked=True) == tiles(shown, picked=True) != []
    assert "sell-pinned" not in refused.content.decode()


def test_an_open_order_for_the_same_cannot_be_sold_again(cashier, telkomsel):
    make_order(Status.PENDING, product=telkomsel[10_000], destination=NUMBER)

    shown = review(cashier, f"{NUMBER} 10")

    assert codes(shown) == {"OpenDuplicate"}
    assert "data-send" not in shown.content.decode()


def test_another_operators_number_is_confirmed_by_a_tick(cashier, telkomsel):
    shown = cashier.get("/counter/review/?product=T10000&q=081700000001", headers={"HX-Request": "true"})

    assert has_id(shown, "other-operator")
    assert has_id(send(cashier, shown), "other-operator")
    assert not Order.objects.exists()
    send(cashier, shown, confirm_operator="1")
    assert Order.objects.get().destination == "081700000001"


def test_a_past_order_is_sold_again_as_it_was(cashier, telkomsel):
    before = make_order(Status.SUCCESS, product=telkomsel[10_000], destination=NUMBER)

    shown = cashier.get(f"/counter/review/?again={before.ref_id}")

    assert words_at(shown, 'id="review-number"') == "0812 3456 7890"
    assert "checked" in shown.content.decode()
    send(cashier, shown, confirm_repeat="1")
    assert Order.objects.count() == 2


def test_words_pin_the_product_and_the_number_comes_after(cashier):
    diamonds = make_product(
        code="ML86", name="Mobile Legends 86 Diamonds", category="game", brand="mobile_legends", price=22_400
    )
    diamonds.brand.name, diamonds.category.name = "Mobile Legends", "Voucher Game"
    diamonds.brand.save()
    diamonds.category.save()

    pinned = cashier.get("/counter/review/?q=mlbb+86", headers={"HX-Request": "true"})
    shown = cashier.get("/counter/review/?product=ML86&q=12345678+2001", headers={"HX-Request": "true"})

    assert hidden(pinned) == {"product": "ML86"}
    assert words_at(shown, 'id="review-number"') == "12345678 (2001)"
    send(cashier, shown)
    assert Order.objects.get().destination == "12345678.2001"


def test_more_than_is_available_waits_only_when_that_is_asked_for(cashier, telkomsel):
    open_books(1_000)
    shown = review(cashier, f"{NUMBER} 10")

    assert has_id(shown, "short-to-wait")
    assert codes(send(cashier, shown)) == {"BalanceShort"}
    assert not Order.objects.exists()
    send(cashier, shown, confirm="wait")
    assert Order.objects.get().status == Status.NEEDS_ACTION


def test_the_strip_shows_the_own_orders_and_what_was_sold(cashier, telkomsel):
    me = User.objects.get(username="cashier")
    facts = {"product": telkomsel[10_000], "selling_price": 12_000, "price": 10_250}
    done = make_order(Status.SUCCESS, destination=NUMBER, placed_by=me, sn="SN-1", **facts)
    runs = make_order(Status.PENDING, destination="081200000001", placed_by=me, **facts)
    others = make_order(Status.PENDING, destination="081200000002", **facts)

    page = cashier.get("/counter/")

    shown = page.content.decode()
    assert [f'data-ref="{order.ref_id}"' in shown for order in (done, runs, others)] == [True, True, False]
    assert [[row.order for row in rows] for _title, rows in page.context["strip"].parts] == [[runs], [done]]
    assert "Rp12.000" in words_at(page, 'id="counter-today"')
    assert 'data-sold="1"' in shown
    assert not has_id(page, "counter-profit")
    assert "0812 3456 7890" in shown
    assert "0812-" not in re.sub(r'="[^"]*"', "", shown)


def test_a_failed_row_gives_the_cash_back_once_from_the_own_drawer(cashier, telkomsel):
    me = User.objects.get(username="cashier")
    shift = begin(me)
    order = end(sell(me, 12_000), "failed")
    page = cashier.get("/counter/")
    before, (question, _delay) = words_at(page, "data-says"), next_question(page)
    address = f"/counter/orders/{order.ref_id}/give-back/"
    assert f'action="{address}"' in page.content.decode()

    first, again = [cashier.post(address, headers={"HX-Request": "true"}) for _ in range(2)]

    assert [codes(answer) for answer in (first, again)] == [{"given_back"}, {"DrawerRefused:given_back"}]
    refunds = DrawerEntry.objects.filter(kind="refund").values_list("shift", "method", "amount", "ref_id", "person")
    assert list(refunds) == [(shift.pk, "cash", -12_000, order.ref_id, me.pk)]
    payment = Payment.objects.get()
    assert (payment.outcome, payment.given_method, payment.given_by) == ("given", "cash", me)
    for news in (first, cashier.get(question)):
        assert "data-give-back" not in news.content.decode()
        assert words_at(news, "data-says") not in {"", before}


def test_money_goes_back_by_one_key_only_in_cash_from_the_own_open_drawer(cashier, telkomsel):
    me = User.objects.get(username="cashier")
    shift = begin(me)
    by_qris = end(sell(me, 12_000, payment=PaymentFacts(method="qris")), "failed")
    customer = give_credit("Bu Sri", cap=50_000)
    on_credit = end(sell_to(customer, 5_000, by=me, destination="081234567899"), "failed")
    others = end(sell(make_person("cashier", username="other"), 5_000, destination="081234567898"), "failed")

    page = cashier.get("/counter/").content.decode()

    for order in (by_qris, on_credit):
        assert f'data-give-back href="/orders/{order.ref_id}/#give-back"' in page
    codes_of = [
        codes(cashier.post(f"/counter/orders/{order.ref_id}/give-back/", headers={"HX-Request": "true"}))
        for order in (on_credit, others)
    ]
    assert codes_of[0] == {"CreditRefused:not_paid_yet"}
    close_shift(shift, pieces=pieces_of(200_000), actor=me)
    answer = cashier.post(f"/counter/orders/{by_qris.ref_id}/give-back/", headers={"HX-Request": "true"})
    assert codes(answer) == {"DrawerRefused:no_shift"}
    assert not DrawerEntry.objects.filter(kind="refund").exists()
    assert set(Payment.objects.values_list("outcome", flat=True)) <= {"owed", "nothing"}
    assert owed_by(customer) == 5_000


def test_a_review_says_that_the_sale_is_in_no_shift_and_still_sells(cashier, telkomsel):
    assert not has_id(review(cashier, f"{NUMBER} 10"), "no-shift")  # a shop without drawers
    drawer = make_drawer()

    shown = review(cashier, f"{NUMBER} 10")
    assert 'href="/drawer/"' in shown.content.decode().split('id="no-shift"')[1]
    send(cashier, shown)
    assert Order.objects.count() == 1

    begin(User.objects.get(username="cashier"), drawer=drawer)
    assert not has_id(review(cashier, f"{NUMBER} 20"), "no-shift")


def test_a_shop_without_a_price_rule_is_warned_and_only_who_sees_costs_reads_why(cashier, telkomsel):
    owner = browser_of("admin")
    warned = owner.get("/counter/"), cashier.get("/counter/")
    PriceRule.objects.create(type="prepaid", kind="plus", value=1_500)

    assert [has_id(page, "sells-at-cost") for page in warned] == [True, True]
    assert [f'href="{reverse("prices")}"' in page.content.decode() for page in warned] == [True, False]
    assert "cost" not in words_at(warned[1], 'id="sells-at-cost"')
    assert not has_id(owner.get("/counter/"), "sells-at-cost")


def test_what_is_sold_at_cost_shows_no_profit(admin):
    product = make_product(price=10_500)
    me = User.objects.get(username="admin")
    make_order(Status.SUCCESS, product=product, placed_by=me, price=10_500)

    assert "is-profit" not in admin.get("/counter/").content.decode()
    assert has_id(review(admin, NUMBER, product=product.code), "review-at-cost")


def test_the_pills_show_the_own_drawer_and_the_balance_to_who_sees_costs(cashier):
    open_books(1_000_000)
    me = User.objects.get(username="cashier")
    assert has_id(cashier.get("/counter/"), "pill-drawer-closed")
    begin(me, cash=100_000)
    begin(make_person("supervisor"), cash=7_000)

    page = cashier.get("/counter/")
    assert attribute_at(page, "pill-drawer", "data-amount") == "100000"
    assert not has_id(page, "pill-balance")
    question, _delay = next_question(page)
    assert not has_id(cashier.get(question), "pill-drawer")
    pay_in(open_shift_of(me.pk), amount=5_000, reason="Coins", actor=me)
    assert attribute_at(cashier.get(question), "pill-drawer", "data-amount") == "105000"

    page = browser_of("admin").get("/counter/")
    assert attribute_at(page, "pill-balance", "data-amount") == "1000000"
    assert has_id(page, "pill-drawer-closed")


def attribute_at(page, name, attribute) -> str:
    return re.search(rf'id="{name}"[^>]*{attribute}="([^"]*)"', page.content.decode())[1]


def test_a_sale_in_no_drawer_is_paid_as_was_said(cashier, telkomsel):
    send(cashier, review(cashier, f"{NUMBER} 10"), paid_by="qris")

    payment = Order.objects.get().payment
    assert (payment.method, payment.amount, payment.sold_in) == ("qris", 12_000, None)


def test_the_text_for_whatsapp_opens_for_the_customers_number(cashier, telkomsel):
    order = make_order(Status.SUCCESS, product=telkomsel[10_000], destination=NUMBER, sn="SN-1")

    answer = cashier.get(f"/counter/orders/{order.ref_id}/whatsapp/")

    assert answer["Location"].startswith("https://wa.me/6281234567890?text=")


def test_a_sale_on_credit_is_placed_and_owed_or_neither(cashier, telkomsel):
    sri = give_credit("Bu Sri", cap=15_000)
    SavedNumber.objects.create(customer=sri, destination=NUMBER, kind="phone")
    shown = review(cashier, f"{NUMBER} 10")

    assert 'value="Bu Sri"' in shown.content.decode()
    assert codes(send(cashier, shown, paid_by="credit", paid_by_customer="nobody")) == {"PaymentUnclear"}
    assert not Order.objects.exists()
    for _ in range(2):
        send(cashier, shown, paid_by="credit", paid_by_customer="Bu Sri")
    assert (Order.objects.count(), owed_by(sri)) == (1, 12_000)

    more = review(cashier, f"{NUMBER} 5")
    assert codes(send(cashier, more, paid_by="credit", paid_by_customer="Bu Sri")) == {"OverCap"}
    assert (Order.objects.count(), owed_by(sri)) == (1, 12_000)


def test_a_bill_in_the_panel_is_paid_once(cashier):
    check = make_check()
    shown = cashier.get(f"/counter/bills/{check.ref_id}/", headers={"HX-Request": "true"})
    assert has_id(shown, "counter-pay")

    def pay(amount):
        fields = {"amount": amount, "fee": 0}
        return cashier.post(f"/counter/bills/{check.ref_id}/pay/", fields, headers={"HX-Request": "true"})

    assert codes(pay(check.total - 1)) == {"TotalChanged"}
    assert not Order.objects.exists()
    answers = [pay(check.total), pay(check.total)]
    assert [f'data-sent="{check.ref_id}"' in answer.content.decode() for answer in answers] == [True, True]
    assert Order.objects.get().ref_id == check.ref_id


def test_a_slow_bill_is_asked_for_until_the_answer_is_there(cashier):
    check = make_check("none")
    page = f"/counter/bills/{check.ref_id}/"
    question = asks(cashier.get(page))
    assert cashier.get(question).status_code == 204

    # The biller takes long: the panel says so once, and asks on.
    with time_machine.travel(timezone.now() + dt.timedelta(seconds=21), tick=True):
        slow, again = cashier.get(question), cashier.get(page)
        later = asks(slow)
        assert [cashier.get(later).status_code for _ in range(2)] == [204, 204]
    assert (has_id(slow, "bill-slow"), asks(again)) == (True, later)

    # Its answer ends the questions.
    BillCheck.objects.filter(pk=check.pk).update(answer="refusal", answered_at=timezone.now(), next_poll_at=None)
    answered = cashier.get(later)
    assert has_id(answered, "bill-refused")
    assert asks(answered) == ""


def test_who_sees_no_numbers_gets_none_from_a_past_order(telkomsel):
    order = make_order(Status.SUCCESS, product=telkomsel[10_000], destination=NUMBER)
    Group.objects.get(name="cashier").permissions.remove(Permission.objects.get(codename="view_number"))
    browser = browser_of("cashier")

    assert browser.get(f"/counter/review/?again={order.ref_id}").status_code == 404
    assert browser.get(f"/counter/orders/{order.ref_id}/whatsapp/").status_code == 403
