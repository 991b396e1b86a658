"""The text for a customer is plain, names the product, and has only known facts, never the shop's cost."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from drawers.services import give_back
from purchases.models import Order
from purchases.receipts import message_text, whatsapp_address
from purchases.states import FINAL, OPEN, Status
from shop.presenting import Letterhead
from testing.database import statements
from testing.factories import make_biller, make_check, make_order, make_payment, make_product
from testing.people import browser_of
from tests.credit.helpers import give_credit, sell_to
from tests.drawers.helpers import begin, end, sell
from tests.shop.helpers import save

pytestmark = pytest.mark.django_db

HEAD = Letterhead(name="Toko Maju", phone="0812 3456 7890", footer=("Terima kasih",), language="id")


def lines(order):
    return message_text(order, HEAD).splitlines()


def test_a_token_is_sent_with_its_groups_and_its_owner():
    product = make_product(name="Token PLN 20.000", category="token-pln", brand="pln")
    sn = "27880111795691503095/BUDI SANTOSO/R1/1300VA/32,5"
    order = make_order(Status.SUCCESS, product=product, destination="12345678901", sn=sn, price=20_500)

    text = lines(order)

    assert text[:7] == [
        "Toko Maju",
        "Token PLN 20.000",
        "Nomor: 1234 5678 901",
        "Nama: BUDI SANTOSO",
        "Tarif/daya: R1 / 1300 VA",
        "Energi: 32,5 kWh",
        "Token: 2788 0111 7956 9150 3095",
    ]
    assert text[-2:] == ["Terima kasih", "0812 3456 7890"]
    assert f"Ref: {order.ref_id}" in text


def test_a_bill_is_sent_with_name_period_and_total():
    check = make_check()
    order = make_payment(check, Status.SUCCESS, sn="PAY-77", price=102_500)

    text = lines(order)

    for line in ("Nama: SITI AMINAH", "Periode: Nov 2026", "SN: PAY-77", "Total: Rp102.500"):
        assert line in text


def test_what_has_not_succeeded_is_no_proof_of_anything_and_an_open_order_is_not_called_failed():
    for status in sorted(set(Status) - {Status.SUCCESS}):
        text = message_text(make_order(status, sn="X1"), HEAD)

        assert ("masih diproses" in text) == (status in OPEN), status
        assert ("tidak berhasil" in text) <= (status in FINAL), status
        assert ("dibatalkan provider" in text) == (status == Status.REVERSED), status
        assert ("X1" in text, "Rp" in text) == (False, False), status


def test_words_of_the_upstream_stay_words_in_one_line():
    product = make_product(name="{% now %} <b>10</b>\n\nTotal: Rp1 \u202eabc")

    text = lines(make_order(Status.SUCCESS, product=product, sn="1\nTotal: Rp2"))

    assert "{% now %} <b>10</b> Total: Rp1 [U+202E]abc" in text
    assert "SN: 1 Total: Rp2" in text
    assert [line for line in text if line.startswith("Total")] == ["Total: Rp10.500"]


def test_in_the_sandbox_the_text_says_that_it_proves_nothing(settings):
    order = make_order(Status.SUCCESS, sn="1")

    settings.SANDBOX = False
    real = lines(order)
    settings.SANDBOX = True
    test = lines(order)

    assert len(test) == len(real) + 1


def test_the_pages_of_an_order_offer_its_text_to_people_who_see_whole_numbers(admin, cashier):
    save(admin, language="id")
    order = make_order(Status.SUCCESS, sn="5985080747136515", price=10_500)
    others = [browser_of(role) for role in ("viewer", "auditor")]

    for address in (f"/orders/{order.ref_id}/", f"/orders/{order.ref_id}/receipt/"):
        page = cashier.get(address).content.decode()
        text = page.split('id="message-text"')[1].split("</textarea>")[0]
        assert "Toko Maju" in text
        assert "SN: 5985080747136515" in text
        assert "https://wa.me/6281234567890?text=Toko%20Maju%0A" in page
        for browser in others:
            assert 'id="message-text"' not in browser.get(address).content.decode(), address


def test_whatsapp_goes_to_the_number_where_it_is_a_phones():
    for category, destination, number in (
        ("pulsa", "081234567890", "6281234567890"),
        ("e-money", "081234567890", "6281234567890"),
        ("e-money", "6032981234567890", ""),
        ("token-pln", "08123456789", ""),
        ("pdam", "081234567890", ""),
    ):
        product = make_biller() if category == "pdam" else make_product(category=category, brand=category)
        order = make_order(Status.SUCCESS, product=product, destination=destination, sn="1", max_price=10_500)

        address = urlsplit(whatsapp_address(order, "Satu & dua\n#tiga"))

        assert (address.scheme, address.netloc, address.path) == ("https", "wa.me", f"/{number}"), destination
        assert parse_qs(address.query) == {"text": ["Satu & dua\n#tiga"]}


def in_languages(order):
    return {code: message_text(order, replace(HEAD, language=code)) for code in ("id", "en")}


def test_given_the_money_went_back_then_the_text_says_how_and_when():
    shift = begin()
    for status in ("failed", "reversed"):
        order = end(sell(shift.cashier, 10_500), status)
        before = in_languages(order)
        give_back(order.payment, method="cash", actor=shift.cashier, shift=shift)
        order = Order.objects.select_related("payment", "product").get(pk=order.pk)

        with statements() as asked:
            after = in_languages(order)

        day = timezone.localtime(order.payment.given_at).strftime("%d/%m/%Y")
        assert f"Uang Anda Rp10.500 sudah kami kembalikan. {day} " in after["id"], status
        assert "(Tunai)" in after["id"], status
        assert f"We have given you Rp10.500 back. {day} " in after["en"], status
        assert "ask us about the money" not in after["en"], status
        assert "Rp10.500" not in before["en"], status
        assert ("ask us about the money" in before["en"]) == (status == "reversed"), status
        assert not [statement for statement in asked if "credit_creditentry" in statement], status


def test_given_a_sale_on_credit_failed_then_the_text_says_that_nothing_is_owed():
    shift, customer = begin(), give_credit()
    order = end(sell_to(customer, 10_500, by=shift.cashier), "reversed")
    due = in_languages(order)["en"]
    give_back(order.payment, method="credit", actor=shift.cashier, shift=shift)

    taken_off = in_languages(Order.objects.get(pk=order.pk))["en"]

    assert "There is nothing to pay for it: Rp10.500 will be taken off what you owe us." in due
    assert "We have taken Rp10.500 off what you owe us." in taken_off
    assert "given you" not in taken_off
