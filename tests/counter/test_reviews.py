"""The promises of each sale at the counter without a script: the number, the review, one order for two presses."""

import datetime as dt
import html
import re

import pytest
from django.utils import timezone

from core.times import hour, start_of_day
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_order, make_product
from testing.orders import NUMBER, confirm, review
from testing.people import make_person, signed_in
from tests.core.helpers import codes, has_id, hidden, words
from tests.gateway.helpers import read_balance

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("costs_shown")]


def is_refused_at_the_field(answer, typed: str) -> bool:
    """Whether the field shows the typed text again with the fault beside it, and nothing can be sent."""
    page = answer.content.decode()
    field = re.search(r'<input class="sell-q".*?>', page, re.DOTALL)[0]
    return f'value="{typed}"' in field and 'class="field-error' in page and 'name="confirm"' not in page


def test_a_confirmed_review_places_one_order_and_shows_it(cashier):
    product = make_product(price=10_500)
    fields, others = (hidden(review(cashier, product, "62 812 3456 7890")) for _ in range(2))

    answers = [confirm(cashier, product, fields) for _pressed in range(2)]

    order = Order.objects.get()
    assert [answer["Location"] for answer in answers] == ["/counter/"] * 2
    assert fields["token"] != others["token"]
    assert order.ref_id in cashier.get("/counter/").content.decode()
    assert (order.destination, order.max_price, order.placed_by.username) == (NUMBER, 10_500, "cashier")
    again = review(cashier, product)
    assert "OpenDuplicate" in codes(again)
    assert f'href="/orders/{order.ref_id}/"' in again.content.decode()
    assert 'name="confirm"' not in again.content.decode()


def test_a_spoiled_confirmation_sends_nothing(cashier):
    product = make_product(price=10_500)
    fields = hidden(review(cashier, product))

    for spoiled in ({"token": "x"}, {"token": ""}, {"price": "-1"}, {"price": "1e4"}, {"price": ""}):
        answer = confirm(cashier, product, fields | spoiled)

        assert answer.status_code == 200, spoiled
        assert hidden(answer)["token"], spoiled
        assert not Order.objects.exists(), spoiled
    confirm(cashier, product, fields | {"price": "1"})  # a price that the form made up
    assert not Order.objects.exists()


def test_the_field_says_what_is_wrong_keeps_it_and_takes_it_back(cashier):
    product = make_product(category="token-pln", brand="pln")
    for typed in ("12345", ""):
        assert is_refused_at_the_field(review(cashier, product, typed), typed), typed
    assert "11 or 12 digits, as on the meter." in words(cashier.get(f"/counter/?product={product.code}"))

    page = review(cashier, product, "1234 5678 901").content.decode()
    [change] = re.findall(r'id="counter-leave" href="([^"]+)"', page)
    back = cashier.get(html.unescape(change))

    assert not has_id(back, "counter-review")
    assert 'value="1234 5678 901"' in back.content.decode()
    assert cashier.get("/counter/review/?product=NOPE&q=0812").status_code == 404


def test_a_second_on_the_same_day_is_asked_about_before_and_after_the_review(cashier):
    product = make_product()
    fields = hidden(review(cashier, product))
    earlier = make_order(Status.SUCCESS, product=product, destination=NUMBER)

    for asked in (review(cashier, product), confirm(cashier, product, fields)):
        assert codes(asked) == {"RepeatToday"}
        assert f'href="/orders/{earlier.ref_id}/"' in asked.content.decode()
        assert Order.objects.count() == 1

    confirm(cashier, product, hidden(asked) | {"confirm_repeat": "1"})
    assert Order.objects.count() == 2


def test_a_moved_price_shows_old_and_new_and_is_confirmed_again(cashier):
    product = make_product(price=10_500)
    fields = hidden(review(cashier, product))
    product.price = 11_000
    product.save()

    asked = confirm(cashier, product, fields)

    assert codes(asked) == {"PriceMoved"}
    assert "Rp10.500 → Rp11.000" in words(asked)
    assert not Order.objects.exists()

    confirm(cashier, product, hidden(asked))
    assert Order.objects.get().max_price == 11_000


def test_a_short_balance_is_said_before_and_does_not_forbid(cashier):
    product = make_product(price=10_500)
    read_balance(10_000)

    answer = review(cashier, product)
    assert has_id(answer, "short-maybe")
    assert "Rp500" in words(answer).split()

    confirm(cashier, product, hidden(answer))
    assert Order.objects.count() == 1


def test_what_cannot_be_bought_says_why_before_and_when_forced(cashier):
    for facts, said, code in (
        ({"availability": "inactive"}, "not-available", "NotForSale:unavailable"),
        ({"is_listed": False}, "not-listed", "NotForSale:delisted"),
    ):
        product = make_product(**facts)

        chosen = cashier.get(f"/counter/?product={product.code}")
        page = review(cashier, product)
        forced = confirm(cashier, product, hidden(page))

        assert [has_id(each, said) for each in (chosen, page)] == [True, True]
        assert re.search(r"data-send\s+disabled", page.content.decode()), said
        assert codes(forced) == {code}
        assert not Order.objects.exists(), said


def test_a_destination_with_markup_is_shown_as_text(cashier):
    product = make_product(category="other")
    product.category.name = "Other"
    product.category.save()

    page = review(cashier, product, "<script>alert(1)</script>").content.decode()

    assert "<script>alert" not in page


def test_an_operator_is_named_as_it_writes_itself(cashier):
    product = make_product(name="XL 10.000")

    for page in ("/counter/?q=", f"/counter/review/?product={product.code}&q=", "/products/?destination="):
        page_words = words(cashier.get(f"{page}087812345678"))

        assert "XL" in page_words.replace("XL 10.000", ""), page
        assert "Xl" not in page_words, page


def test_another_product_for_a_number_in_doubt_is_hinted_at_and_can_be_sold(cashier):
    unsure = make_order(Status.UNKNOWN, destination=NUMBER, product_name="Telkomsel 50.000")
    product = make_product(price=10_500)

    page = review(cashier, product, NUMBER)

    assert has_id(page, "in-doubt")
    assert "Telkomsel 50.000" in words(page)
    assert f"/orders/{unsure.ref_id}/" in page.content.decode()
    assert not has_id(review(cashier, product, "081234567899"), "in-doubt")
    confirm(cashier, product, hidden(page))
    assert Order.objects.exclude(pk=unsure.pk).get().destination == NUMBER


def test_a_slip_of_an_earlier_sale_of_today_is_asked_about_and_its_own_form_is_not(cashier):
    product = make_product(price=10_500)
    card = {"paid_by": "card", "paid_reference": "004217"}
    first = hidden(review(cashier, product)) | card
    for _pressed in range(2):  # an answer that was lost: the same form again
        confirm(cashier, product, first)
    assert Order.objects.count() == 1

    fields = hidden(review(cashier, product, "081234567899")) | card
    asked = confirm(cashier, product, fields)
    assert (codes(asked), Order.objects.count()) == ({"SlipUsed"}, 1)
    assert Order.objects.get().ref_id in words(asked)
    assert 'value="004217" required data-sure' in asked.content.decode()
    assert hidden(asked)["token"] == fields["token"]  # the question keeps the form, so that it sells once
    again = confirm(cashier, product, hidden(asked) | card | {"confirm_slip": "004217"})

    assert again["Location"] == "/counter/"
    assert (Order.objects.count(), Order.objects.filter(payment__reference="004217").count()) == (2, 2)


def test_neither_a_transfer_of_that_number_nor_another_slip_is_asked_about(cashier):
    product = make_product(price=10_500)

    for number, paid in (
        ("081234567897", {"paid_by": "transfer", "transfer_reference": "004217"}),
        ("081234567898", {"paid_by": "card", "paid_reference": "004216"}),
        ("081234567899", {"paid_by": "card", "paid_reference": "004217"}),
    ):
        answer = confirm(cashier, product, hidden(review(cashier, product, number)) | paid)
        assert answer["Location"] == "/counter/", paid

    assert Order.objects.count() == 3


def test_a_slip_used_before_midnight_is_asked_about_after_it(time_machine):
    seller, product = make_person("cashier"), make_product(price=10_500)
    card = {"paid_by": "card", "paid_reference": "004217"}
    midnight = start_of_day(timezone.localdate() + dt.timedelta(days=1))

    def sell(number: str, *, at: dt.timedelta):
        time_machine.move_to(midnight + at)
        cashier = signed_in(seller)
        return confirm(cashier, product, hidden(review(cashier, product, number)) | card)

    sell(NUMBER, at=-dt.timedelta(minutes=2))
    after_midnight = sell("081234567899", at=dt.timedelta(minutes=3))
    an_hour_later = sell("081234567899", at=dt.timedelta(minutes=59))

    assert codes(after_midnight) == {"SlipUsed"}
    assert hour(midnight - dt.timedelta(minutes=2)) in words(after_midnight)
    assert an_hour_later["Location"] == "/counter/"


def test_a_second_one_and_its_slip_are_asked_about_once_each(cashier):
    product = make_product(price=10_500)
    card = {"paid_by": "card", "paid_reference": "004217"}
    confirm(cashier, product, hidden(review(cashier, product, "081234567899")) | card)
    make_order(Status.SUCCESS, product=product, destination=NUMBER)

    fields = hidden(review(cashier, product)) | card | {"confirm_repeat": "1"}
    asked = confirm(cashier, product, fields)
    assert codes(asked) == {"SlipUsed"}
    confirm(cashier, product, hidden(asked) | card | {"confirm_slip": "004217"})

    assert Order.objects.count() == 3
