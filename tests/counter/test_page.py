"""The counter's review and its questions; the sent sale is the shown sale."""

import datetime as dt
import re

import pytest
import time_machine
from django.contrib.auth.models import Group, Permission
from django.urls import reverse
from django.utils import timezone

from bills.models import BillCheck
from catalogue.models import PriceRule
from customers.models import SavedNumber
from drawers.services import close_shift
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from testing.factories import make_check, make_order, make_product
from testing.people import browser_of
from tests.core.helpers import codes, has_id, hidden, words, words_at
from tests.counter.helpers import NUMBER, review, send, tiles
from tests.credit.helpers import give_credit, owed_by
from tests.customers.helpers import make_customer
from tests.drawers.helpers import begin, make_drawer, pieces_of

pytestmark = pytest.mark.django_db


def asks(page):
    """The address that the bill in the panel asks by itself; "" when it asks nothing."""
    match = re.search(r'hx-get="(/counter/bills/[^"]+)" hx-trigger="every', page.content.decode())
    return match[1] if match else ""


def test_the_review_shows_the_number_in_fours_and_the_cost_to_who_may_see_it(cashier, admin, telkomsel):
    page, with_cost = (review(browser, f"{NUMBER} 10") for browser in (cashier, admin))

    assert words_at(page, 'id="review-number"') == "0812 3456 7890"
    assert words_at(page, 'id="review-price"') == "Rp12.000"
    assert not has_id(page, "review-cost")
    assert "10.250" not in words(page)
    assert "Rp10.250" in words_at(with_cost, 'id="review-cost"')
    assert "+Rp1.750" in words_at(with_cost, 'id="review-cost"')
    assert not Order.objects.exists()


def test_what_is_sent_is_what_the_review_showed_and_once(cashier, telkomsel):
    shown = review(cashier, f"{NUMBER} 10")

    first, second = (send(cashier, shown, paid_by="qris") for _pressed in range(2))

    order = Order.objects.get()
    assert (order.destination, order.product_code, order.selling_price) == (NUMBER, "T10000", 12_000)
    assert order.placed_by == User.objects.get(username="cashier")
    assert (order.payment.method, order.payment.amount, order.payment.sold_in) == ("qris", 12_000, None)
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
    # A link shows the news: a page that reloads itself would lose the text typed for the next customer.
    assert (has_id(answer, "strip-again"), has_id(shown, "strip-again")) == (True, False)
    assert 'http-equiv="refresh"' not in answer.content.decode()


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


def test_a_repeat_of_today_is_confirmed_by_a_tick_and_the_field_stays(cashier, telkomsel):
    make_order(Status.SUCCESS, product=telkomsel[10_000], destination=NUMBER)
    shown = review(cashier, f"{NUMBER} 10")

    refused = send(cashier, shown)

    assert codes(refused) == {"RepeatToday"}
    assert tiles(refused, picked=True) == tiles(shown, picked=True) != []
    assert "sell-pinned" not in refused.content.decode()
    assert Order.objects.count() == 1
    send(cashier, shown, confirm_repeat="1")
    assert Order.objects.count() == 2


def test_another_operators_number_is_confirmed_by_a_tick_or_the_right_product_taken(cashier, telkomsel):
    shown = review(cashier, "081700000001", product="T10000")

    assert has_id(shown, "other-operator")
    assert re.search(r'href="/counter/\?q=081700000001\+"\s+data-fills="081700000001 "', shown.content.decode())
    assert has_id(send(cashier, shown), "other-operator")
    assert not Order.objects.exists()
    send(cashier, shown, confirm_operator="1")
    assert Order.objects.get().destination == "081700000001"


def test_a_past_order_is_sold_again_as_it_was(cashier, telkomsel):
    person = User.objects.get(pk=cashier.session["_auth_user_id"])
    before = make_order(Status.SUCCESS, product=telkomsel[10_000], destination=NUMBER, placed_by=person)

    # the number of the customer before may be a mistake: it takes the person's own tick
    for is_last in (True, False):
        if not is_last:
            make_order(Status.PENDING, product=telkomsel[10_000], destination="081299990000", placed_by=person)
        shown = cashier.get(f"/counter/review/?again={before.ref_id}")
        assert words_at(shown, 'id="review-number"') == "0812 3456 7890"
        assert bool(re.search(r'name="confirm_repeat"[^>]*checked', shown.content.decode())) is is_last
    send(cashier, shown, confirm_repeat="1")
    assert Order.objects.filter(destination=NUMBER).count() == 2


def test_words_pin_the_product_and_the_number_comes_after(cashier):
    diamonds = make_product(
        code="ML86", name="Mobile Legends 86 Diamonds", category="game", brand="mobile_legends", price=22_400
    )
    diamonds.brand.name, diamonds.category.name = "Mobile Legends", "Voucher Game"
    diamonds.brand.save()
    diamonds.category.save()

    pinned = cashier.get("/counter/review/?q=mlbb+86", headers={"HX-Request": "true"})
    asked, shown = (review(cashier, number, product="ML86") for number in ("12345678", "12345678 2001"))

    assert (has_id(asked, "counter-review"), "data-fault" in asked.content.decode()) == (False, True)  # the zone lacks
    assert hidden(pinned) == {"product": "ML86"}
    assert words_at(shown, 'id="review-number"') == "12345678 (2001)"
    send(cashier, shown)
    assert Order.objects.get().destination == "12345678.2001"


def test_an_amount_behind_the_number_of_a_chosen_product_is_no_part_of_the_number(cashier, telkomsel):
    shown = review(cashier, f"{NUMBER} 5", product="T5000")

    assert not has_id(shown, "counter-review")  # 0812 3456 7890 5 is another customer's number
    assert "data-fault" in shown.content.decode()
    for pasted in (NUMBER, "0812 3456 7890", "(0812) 3456-7890", "\u202a+62 812\u20113456\u20117890\u202c"):
        right = review(cashier, pasted, product="T5000")
        assert words_at(right, 'id="review-number"') == "0812 3456 7890", pasted
    card = make_product(code="EM50", category="e-money", brand="mandiri", name="E-Money 50.000")
    assert has_id(review(cashier, "6032 9812 3456 7890", product=card.code), "counter-review")


def test_a_review_says_that_the_sale_is_in_no_shift_and_still_sells(cashier, telkomsel):
    assert not has_id(review(cashier, f"{NUMBER} 10"), "no-shift")  # a shop without drawers
    drawer = make_drawer()

    shown = review(cashier, f"{NUMBER} 10")
    assert 'href="/drawer/"' in shown.content.decode().split('id="no-shift"')[1]
    send(cashier, shown)
    assert Order.objects.count() == 1

    begin(User.objects.get(username="cashier"), drawer=drawer)
    assert not has_id(review(cashier, f"{NUMBER} 20"), "no-shift")


def test_a_review_whose_shift_has_closed_meanwhile_says_so_before_it_sells(cashier, telkomsel):
    # given a review, and the drawer that another window closes meanwhile
    shift = begin(User.objects.get(username="cashier"), cash=200_000)
    shown = review(cashier, f"{NUMBER} 10")
    close_shift(shift, pieces=pieces_of(200_000), actor=shift.cashier)

    # when the review is sent with the customer's cash
    refused = send(cashier, shown, paid_by="cash", cash_given="50.000")

    # then nothing is sold before the person has read that no shift takes the cash
    assert ("PaymentUnclear" in codes(refused), has_id(refused, "no-shift")) == (True, True)
    assert not Order.objects.exists()
    send(cashier, refused)
    assert Order.objects.get().payment.sold_in is None


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

    # The biller takes long: the panel says so once, and goes on asking.
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


def test_who_sees_no_numbers_is_offered_none_at_the_counter(telkomsel):
    browser, number = browser_of("cashier"), "081277665544"  # a number that is not the page's example
    own = {"placed_by": User.objects.get(username="cashier"), "destination": number}
    order = make_order(Status.SUCCESS, product=telkomsel[10_000], **own)
    make_customer("Bu Sari", (number, "phone"))

    def shown() -> list[bool]:
        pages = [browser.get("/counter/", {"q": text}).content.decode() for text in ("", "sari")]
        return ["77665544" in re.sub(r"[\s-]", "", page) for page in pages]

    assert shown() == [True, True]
    Group.objects.get(name="cashier").permissions.remove(Permission.objects.get(codename="view_number"))
    assert shown() == [False, False]
    assert browser.get(f"/counter/review/?again={order.ref_id}").status_code == 404
    assert browser.get(f"/counter/orders/{order.ref_id}/whatsapp/").status_code == 403
