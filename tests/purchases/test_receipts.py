"""The receipt for the customer: on the shop's paper, with the known facts; from the second print on it is a copy.

It has the facts of the shop, the meter and the person; a print never changes.
"""

import pytest

from purchases.models import ReceiptPrint
from purchases.presenting import SerialNumber
from purchases.receipts import MeterOwner
from purchases.states import Status
from shop.services import current_shop
from staff.models import User
from testing.factories import make_check, make_order, make_payment, make_product
from testing.people import browser_of
from tests.core.helpers import codes
from tests.shop.helpers import file_of, papers_of, png, save, text_of

pytestmark = pytest.mark.django_db

PAPERS = ["58", "80", "a5"]


def print_it(client, order, paper="58"):
    return client.post(f"/orders/{order.ref_id}/receipt/", {"paper": paper}, follow=True)


def paper_of(answer) -> str:
    """The one receipt of a page."""
    [paper] = papers_of(answer)
    return paper


def make_bought(**facts):
    return make_order(Status.SUCCESS, sn="5985080747136515", price=10_500, **facts)


def test_a_purchase_prints_shop_product_number_price_and_sn(cashier, settings):
    for paper in PAPERS:
        settings.SHOP_NAME = "Toko Uji"
        order = make_bought()

        answer = print_it(cashier, order, paper)

        for fact in ("Toko Uji", "Telkomsel 10.000", "0812-3456-7890", "Rp10.500", "5985080747136515", order.ref_id):
            assert fact in paper_of(answer), paper
        assert f"struk-{paper}" in paper_of(answer), paper
        assert f'class="paper-{paper}"' in answer.content.decode(), paper


def test_a_bill_is_printed_with_customer_periods_fee_and_total(cashier):
    details = [
        {"period": "Okt 2026", "amount": 60_000, "penalty": 3_000},
        {"period": "Nov 2026", "amount": 40_000, "penalty": 0},
    ]
    check = make_check(details=details, penalty=3_000, total=105_500)
    order = make_payment(check, Status.SUCCESS, sn="PAY-77", price=105_500)

    receipt = paper_of(print_it(cashier, order))

    facts = ("SITI AMINAH", "Okt 2026", "Rp60.000", "Nov 2026", "Rp40.000", "Rp3.000", "Rp2.500", "Rp105.500", "PAY-77")
    for fact in facts:
        assert fact in receipt


def test_the_first_print_is_the_original_later_ones_are_copies_and_viewing_changes_nothing(cashier):
    order, other = make_bought(), make_bought(destination="081234567899")
    cashier.get(f"/orders/{order.ref_id}/receipt/?paper=80")
    assert not ReceiptPrint.objects.exists()

    prints = [print_it(cashier, order) for _ in range(3)]

    again = cashier.get(f"/orders/{order.ref_id}/receipt/1/")
    assert ['id="struk-copy"' in paper_of(answer) for answer in (*prints, again)] == [False, True, True, False]
    assert [answer.request["PATH_INFO"] for answer in prints] == [
        f"/orders/{order.ref_id}/receipt/{number}/" for number in (1, 2, 3)
    ]
    assert [(each.order, each.number, each.paper, each.printed_by.username) for each in ReceiptPrint.objects.all()] == [
        (order, number, "58", "cashier") for number in (1, 2, 3)
    ]
    assert cashier.get(f"/orders/{other.ref_id}/receipt/1/").status_code == 404


def test_the_shops_paper_is_the_first_choice_or_remembered_and_an_unknown_one_is_narrow(admin, cashier):
    order, other = make_bought(), make_bought(destination="081234567899")
    assert "struk-58" in paper_of(cashier.get(f"/orders/{order.ref_id}/receipt/?paper=banner"))
    print_it(cashier, order, "a5")
    assert "struk-a5" in paper_of(cashier.get(f"/orders/{other.ref_id}/receipt/"))

    save(admin, paper="80")
    assert "struk-80" in paper_of(browser_of("cashier", username="another").get(f"/orders/{other.ref_id}/receipt/"))


def test_what_has_not_succeeded_has_no_receipt(cashier):
    for status in [Status.PENDING, Status.UNKNOWN, Status.FAILED]:
        order = make_order(status)

        answer = print_it(cashier, order)

        assert codes(answer) >= {"no_receipt"}, status
        assert f"/orders/{order.ref_id}/receipt/" not in cashier.get(f"/orders/{order.ref_id}/").content.decode()
        assert not ReceiptPrint.objects.exists(), status


def test_an_auditor_looks_at_a_receipt_and_prints_none(auditor):
    order = make_bought()

    page = auditor.get(f"/orders/{order.ref_id}/receipt/")

    assert page.status_code == 200
    assert 'method="post"' not in page.content.decode().split("struk-page")[1].split("</main>")[0]
    assert auditor.post(f"/orders/{order.ref_id}/receipt/", {"paper": "58"}).status_code == 403
    assert not ReceiptPrint.objects.exists()


def test_a_sandbox_receipt_says_that_it_proves_nothing(admin, settings):
    order = make_bought()

    for is_sandbox in (True, False):
        settings.SANDBOX = is_sandbox
        assert ('id="struk-test"' in paper_of(admin.get(f"/orders/{order.ref_id}/receipt/"))) is is_sandbox


# --- the shop, the meter and the person ------------------------------------------------------------------------------


def test_a_receipt_shows_the_shop_its_cashier_and_its_footer_and_no_stranger_its_logo(admin, cashier, client):
    save(admin, logo=file_of(png()))
    order = make_bought(placed_by=User.objects.get(username="cashier"))

    paper = paper_of(print_it(cashier, order))

    for fact in ("Toko Maju", "Jl. Merdeka 1", "Bandung", "0812 3456 7890", "tidak dapat ditukar", "Cashier: cashier"):
        assert fact in text_of(paper)
    address = f"/shop/logo/{current_shop().logo_id}/"
    assert f'src="{address}"' in paper
    assert browser_of("auditor").get(address).status_code == 200
    assert client.get(address).status_code == 302


def test_a_print_keeps_the_shop_of_its_day_and_so_do_its_copies(admin, cashier):
    save(admin)
    order, later = make_bought(), make_bought(destination="081234567899")
    print_it(cashier, order)

    save(admin, name="Toko Jaya", address="Jl. Baru 9")
    pages = [
        cashier.get(f"/orders/{order.ref_id}/receipt/1/"),
        cashier.get(f"/orders/{order.ref_id}/receipt/"),
        print_it(cashier, order),
    ]

    for page in pages:
        paper = paper_of(page)
        assert "Toko Maju" in paper
        assert "Jl. Baru 9" not in paper
    assert "Toko Jaya" in paper_of(print_it(cashier, later))


def test_a_print_of_before_the_settings_keeps_the_name_of_then_and_without_a_version_shows_the_shop_as_it_is(
    admin, cashier, settings
):
    settings.SHOP_NAME = "Toko Lama"
    order, other = make_bought(), make_bought(destination="081234567899")
    print_it(cashier, order)
    ReceiptPrint.objects.create(order=other, number=1, paper="58", printed_by=User.objects.get(username="cashier"))

    save(admin)

    assert "Toko Lama" in paper_of(cashier.get(f"/orders/{order.ref_id}/receipt/1/"))
    assert "Toko Maju" in paper_of(cashier.get(f"/orders/{other.ref_id}/receipt/1/"))


def test_a_receipt_is_in_the_shops_language_if_it_has_one(admin, cashier):
    for language, word in (("", "Product"), ("id", "Produk"), ("en", "Product")):
        save(admin, language=language)
        assert f"<dt>{word}</dt>" in paper_of(print_it(cashier, make_bought())), language


def test_what_follows_a_token_is_read_as_far_as_it_is_known():
    for rest, owner in [
        ("BUDI SANTOSO/R1/1300VA/32,5", ("BUDI SANTOSO", "R1 / 1300 VA", "32,5 kWh", "")),
        ("BUDI/R1M/000900VA/12.34 kWh", ("BUDI", "R1M / 900 VA", "12,34 kWh", "")),
        ("BUDI/r-1/1300/32.5", ("BUDI", "R-1 / 1300 VA", "32,5 kWh", "")),
        ("BUDI/R1M/1300VA/1.032,5", ("BUDI", "R1M / 1300 VA", "1.032,5 kWh", "")),
        ("BUDI SANTOSO", ("BUDI SANTOSO", "", "", "")),
        ("R1/1300VA", ("", "R1 / 1300 VA", "", "")),
        ("BUDI/R1/1300VA/32,5/REF 77", ("BUDI", "R1 / 1300 VA", "32,5 kWh", "REF 77")),
        ("4711", ("", "", "", "4711")),
        ("", ("", "", "", "")),
    ]:
        serial = SerialNumber("1", "1", rest.replace("/", " · "), is_token=True)

        read = MeterOwner.read(serial)

        assert (read.name, read.tariff, read.energy, read.rest) == owner, rest


def test_a_token_stands_in_five_groups_with_name_and_tariff(cashier):
    product = make_product(name="Token PLN 20.000", category="token-pln", brand="pln")
    sn = "27880111795691503095/BUDI SANTOSO/R1/1300VA/32,5"
    order = make_order(Status.SUCCESS, product=product, destination="12345678901", sn=sn)

    paper = paper_of(print_it(cashier, order))

    assert paper.count("<span>") == 5
    assert "is-token" in paper
    assert "Name BUDI SANTOSO Tariff/power R1 / 1300 VA Energy 32,5 kWh" in text_of(paper)
    assert "2788 0111 7956 9150 3095" in text_of(paper)


def test_a_receipt_takes_few_queries(cashier, django_assert_max_num_queries):
    order = make_bought()
    print_it(cashier, order)

    for address in (f"/orders/{order.ref_id}/receipt/", f"/orders/{order.ref_id}/receipt/1/"):
        with django_assert_max_num_queries(9):
            cashier.get(address)
