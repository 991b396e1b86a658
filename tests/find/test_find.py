"""Find anything: each kind by typed words, for people who may see it, and never a number that they may not see."""

import datetime as dt
import html
import re
from functools import cache
from urllib.parse import urlencode

import pytest
import time_machine
from django.template.backends.django import Template
from django.utils import timezone

from catalogue.models import Product
from complaints.services import open_complaint
from core.money import rupiah
from core.rights import Role
from drawers.models import Drawer
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_biller, make_check, make_order, make_product
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.credit.helpers import give_credit, sell_to
from tests.customers.helpers import make_customer
from tests.drawers.helpers import begin

pytestmark = pytest.mark.django_db

NUMBER, OTHER = "081298765432", "081298760000"
# The kinds of results for a number that has all of them; and those that a role with fewer rights sees.
ALL = ["do", "customers", "orders", "bills", "complaints"]
SEEN = {
    Role.VIEWER: ["do", "orders", "bills"],
    Role.AUDITOR: ["do", "orders", "bills", "complaints"],
}


def who(role: Role):
    return browser_of("admin" if role is Role.OWNER else role)


def found(browser, text: str, **more: str) -> dict[str, list[tuple[str, str]]]:
    """The results of each kind: address and words."""
    page = browser.get("/find/", {"q": text, **more}, headers={"HX-Request": "true"}).content.decode()
    groups = re.findall(r'<section.*?data-group="(\w+)">(.*?)</section>', page, re.DOTALL)
    return {
        name: [
            (html.unescape(url), " ".join(html.unescape(re.sub(r"<[^>]+>", " ", words)).split()))
            for url, words in re.findall(r'<li><a href="([^"]+)"(.*?)</a>', body, re.DOTALL)
        ]
        for name, body in groups
    }


def addresses(browser, text: str, kind: str) -> list[str]:
    return [url for url, _words in found(browser, text).get(kind, [])]


@pytest.fixture
def number_with_everything() -> Order:
    """An order of a number that has a customer, a bill and a complaint, too."""
    order = make_order(Status.SUCCESS, destination=NUMBER, sn="SN-20261125-7788", trx_id="TRX77")
    make_customer("Bu Sari", (NUMBER, "phone"))
    make_check(destination=NUMBER, product=make_biller())
    open_complaint(order, words="not here", actor=make_person("supervisor", username="helper"))
    return order


def test_every_kind_that_shows_an_order_reads_it_once(number_with_everything, django_assert_max_num_queries):
    browser = browser_of("admin")
    found(browser, NUMBER[-4:])

    with django_assert_max_num_queries(14) as asked:
        found(browser, NUMBER[-4:])

    assert sum('FROM "purchases_order" INNER JOIN "catalogue_product"' in query["sql"] for query in asked) == 1


def test_the_standing_of_bills_is_not_asked_without_bills(django_assert_max_num_queries):
    browser = browser_of("admin")
    found(browser, NUMBER)

    with django_assert_max_num_queries(14) as asked:
        found(browser, NUMBER)

    assert not any("now_standing" in query["sql"] for query in asked)


def test_each_role_finds_of_a_number_what_it_may_see(number_with_everything):
    for role in Role:
        results = found(who(role), NUMBER)

        assert list(results) == SEEN.get(role, ALL), role
        acts = [url for url, _words in results["do"]]
        arrived = f"/arrived/?q={NUMBER}"
        assert acts == ([arrived] if role in {Role.VIEWER, Role.AUDITOR} else [arrived, f"/counter/?q={NUMBER}"]), role
        assert results["orders"][0][0] == number_with_everything.get_absolute_url(), role


def test_the_sale_comes_first_when_the_last_order_is_of_earlier_days():
    make_order(Status.SUCCESS, destination=NUMBER, created_at=timezone.now() - dt.timedelta(days=3))

    assert addresses(who(Role.CASHIER), NUMBER, "do") == [f"/counter/?q={NUMBER}", f"/arrived/?q={NUMBER}"]


@pytest.mark.parametrize("sn", ["49170031220", "49170031220/BUDI/R1", "4917-0031-2200-5566-7788"])
def test_an_sn_that_looks_like_a_number_leads_to_its_order_and_sells_nothing(sn: str, cashier):
    earlier = timezone.now() - dt.timedelta(days=8)
    order = make_order(Status.SUCCESS, destination=NUMBER, sn=sn, trx_id="T1", created_at=earlier)
    # Newer, and with the same beginning.
    make_order(Status.SUCCESS, destination=OTHER, sn=f"{sn.partition('/')[0]}9", trx_id="T2")

    for text in {sn, sn.partition("/")[0]}:
        results = found(cashier, text)
        assert [url.partition("?")[0] for url, _words in results["do"]] == ["/arrived/"]
        assert next(iter(results)) == "do"
        assert results["orders"][0][0] == order.get_absolute_url()


def test_a_number_that_an_sn_repeats_is_sold_for(cashier):
    earlier = timezone.now() - dt.timedelta(days=3)
    make_order(Status.SUCCESS, destination=NUMBER, sn=f"{NUMBER}/BUDI", created_at=earlier)

    assert addresses(cashier, NUMBER, "do")[0] == f"/counter/?q={NUMBER}"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AUDITOR])
def test_without_the_right_to_full_numbers_no_digits_lead_to_one(role, number_with_everything):
    browser = who(role)

    shown = " ".join(words for rows in found(browser, "TRX77").values() for _url, words in rows)
    assert "0812-••••-•432" in shown
    assert NUMBER not in re.sub(r"\W", "", shown)
    for part in (NUMBER[-4:], NUMBER[-8:], NUMBER[:-1]):
        assert not set(found(browser, part)) & {"do", "orders", "bills", "customers"}
    results = found(browser, NUMBER)
    rows = [words for kind in ("orders", "bills", "complaints") for _url, words in results.get(kind, [])]
    assert {"orders", "bills"} <= results.keys()
    assert [row for row in rows if NUMBER in re.sub(r"\W", "", row)] == []


def test_an_order_is_found_by_what_people_have_of_it(number_with_everything, cashier):
    order = number_with_everything
    make_order(Status.SUCCESS, destination=OTHER)

    for text in (NUMBER, "+62 812-9876-5432", "5432", "8765432", order.sn, "sn-20261125-77", "trx77", order.ref_id):
        assert addresses(cashier, text, "orders") == [order.get_absolute_url()], text
    for text in ("432", "0812", "SN-2", "zzzz", "\x00", "%", "🙂", "a" * 5000):  # they fit too many orders, or none
        assert addresses(cashier, text, "orders") == [], text


def test_the_newest_five_come_first_and_narrowed_more_of_them(cashier):
    orders = [make_order(Status.SUCCESS, destination=NUMBER) for _ in range(7)]
    newest = [order.get_absolute_url() for order in sorted(orders, key=lambda order: order.created_at)[::-1]]

    assert addresses(cashier, NUMBER, "orders") == newest[:5]
    narrowed = found(cashier, NUMBER, kind="orders")
    assert [url for url, _words in narrowed["orders"]] == newest
    assert list(narrowed) == ["orders"]
    assert list(found(cashier, NUMBER, kind="nonsense")) == ["do", "orders"]


def test_a_customer_is_found_by_name_and_end_of_number_with_the_debt(cashier):
    customer = give_credit("Bu Sri")
    customer.numbers.create(destination=NUMBER, kind="phone")
    sell_to(customer, 75_000, by=make_person("supervisor"))

    for text in ("sri", "5432", NUMBER):
        ((url, words),) = found(cashier, text)["customers"]
        assert url == customer.get_absolute_url()
        assert "0812-9876-5432" in words
        assert "Rp75.000" in words


def test_a_number_for_two_things_stands_once_beside_the_customer(cashier):
    wallet = make_product(name="GoPay 50.000")
    customer = make_customer("Bu Sri", (NUMBER, "phone"), (NUMBER, wallet), (OTHER, "phone"))

    ((_url, words),) = found(cashier, "sri")["customers"]

    assert (words.count("0812-9876-5432"), "0812-9876-0000" in words, "more" in words) == (1, True, False)
    page = cashier.get(customer.get_absolute_url()).content.decode()
    assert len(re.findall(r'c-number[^>]*>\s*<span class="visually-hidden">0812-9876-5432', page)) == 1
    assert len(re.findall(r"c-number[^>]*>\s*0812-9876-5432", page)) == 1


def test_a_product_is_sold_by_sellers_and_seen_by_others(cashier):
    product = make_product(name="Telkomsel 10.000")

    assert addresses(cashier, "tel 10", "products") == [f"/counter/?product={product.code}"]
    assert addresses(browser_of("viewer"), "tel 10", "products") == ["/products/?q=Telkomsel+10.000"]


def test_pages_settings_and_actions_are_found_in_both_languages():
    browser = cache(browser_of)
    for role, text, address in [
        ("cashier", "orders", "/orders/"),
        ("cashier", "transaksi", "/orders/"),
        ("cashier", "add cust", "/customers/add/"),
        ("cashier", "policies", None),
        ("cashier", "invite", None),
        ("admin", "tambah kasir", "/staff/invite/"),
        ("admin", "add a person", "/staff/invite/"),
        ("admin", "karyawan baru", "/staff/invite/"),
        ("cashier", "tambah kasir", None),
        ("auditor", "activity", "/audit/"),
        ("admin", "bahasa", "/me/"),
        ("admin", "policies", "/shop/policies/"),
        ("admin", "paper", "/shop/"),
        ("admin", "roles", "/staff/roles/"),
        ("cashier", "salah nomor", "/guide/#wrong-number"),
        ("cashier", "wrong number", "/guide/#wrong-number"),
    ]:
        pages = addresses(browser(role), text, "pages")

        assert pages[:1] == ([address] if address else []), (role, text)


@pytest.mark.parametrize("role", Role)
def test_every_page_that_is_offered_opens(role, monkeypatch):
    browser = who(role)
    offered = {
        url: words
        for letter in "abcdefghijklmnopqrstuvwxyz"
        for url, words in found(browser, letter, kind="pages").get("pages", [])
    }

    assert offered
    monkeypatch.setattr(Template, "render", lambda *_context, **__context: "")  # only the access matters here
    for url, words in offered.items():
        assert browser.get(url).status_code in {200, 302}, (role, words, url)


def test_without_a_script_it_is_a_page(cashier, number_with_everything):
    page = cashier.get("/find/", {"q": NUMBER}).content.decode()

    assert page.count('id="find-q"') == page.count('id="find-results"') == 1
    assert f'value="{NUMBER}"' in page
    assert f'href="/find/?q={NUMBER}&amp;kind=orders"' in page


@pytest.mark.parametrize("text", ["0812", "+62812"])
def test_the_beginning_of_a_number_finds_no_product(text: str):
    make_product(name="Telkomsel 812")

    assert addresses(who(Role.OWNER), text, "products") == []


def test_a_line_that_the_orders_understand_leads_to_them():
    cashier = browser_of("cashier")

    assert addresses(cashier, "50 ribu kemarin", "orders") == ["/orders/?q=50+ribu+kemarin"]
    assert addresses(cashier, "akhiran 02", "orders") == ["/orders/?q=akhiran+02"]
    assert addresses(cashier, "zzz", "orders") == []
    assert addresses(cashier, NUMBER, "orders") == []


def test_a_person_is_found_by_a_part_of_the_name_by_those_who_manage_people():
    sari = make_person("cashier", username="sari", first_name="Bu Sari", is_active=False)
    make_person("viewer", username="budi")

    for role in (Role.SUPERVISOR, Role.OWNER):
        browser = who(role)
        assert addresses(browser, "sar", "staff") == [f"/staff/{sari.pk}/"]
        assert addresses(browser, "s", "staff") == []
        ((_url, words),) = found(browser, "bu sari")["staff"]
        assert "sari · Cashier · Switched off" in words
    assert addresses(who(Role.CASHIER), "sar", "staff") == addresses(who(Role.AUDITOR), "sar", "staff") == []


def test_a_name_behind_the_word_limit_opens_the_persons_limits():
    rini = make_person("cashier", username="rini", first_name="Rini")
    owner = who(Role.OWNER)

    for text in ("limit rini", "Limits Rini", "batas rini"):
        assert addresses(owner, text, "staff") == [f"/staff/{rini.pk}/#limits"], text
    assert 'id="limits"' in owner.get(f"/staff/{rini.pk}/").content.decode()
    assert addresses(who(Role.CASHIER), "limit rini", "staff") == []


def test_days_behind_a_name_open_the_persons_page_with_these_days():
    sari = make_person("cashier", username="sari")
    owner = who(Role.OWNER)

    for text, days in (
        ("sari kemarin", "yesterday"),
        ("kasir sari hari ini", "today"),
        ("Sari last week", "last-week"),
        ("sari seminggu lalu", "last-week"),
    ):
        assert addresses(owner, text, "staff") == [f"/staff/{sari.pk}/?days={days}"]
        assert addresses(owner, text, "orders") == [f"/orders/?{urlencode({'q': text})}"]
    second = make_person("cashier", username="second", first_name="Kasir", last_name="Dua")
    make_person("cashier", username="dua")
    assert addresses(owner, "kasir dua kemarin", "staff") == [f"/staff/{second.pk}/?days=yesterday"]
    page = owner.get(f"/staff/{sari.pk}/?days=yesterday").content.decode()
    assert f'hx-get="/earnings/beside/{sari.pk}/?days=yesterday"' in page
    assert addresses(owner, "kemarin", "staff") == addresses(owner, "budi kemarin", "staff") == []
    assert addresses(who(Role.CASHIER), "sari kemarin", "staff") == []


def test_a_name_with_a_day_alone_puts_the_persons_page_first():
    seller = make_person("cashier", username="kasir9", first_name="Kasir", last_name="Demo")
    make_person("cashier", username="kasirlain")
    sold(1, placed_by=seller)
    owner = who(Role.OWNER)

    for text in ("kasir demo kemarin", "kasir9 yesterday"):
        results = found(owner, text)
        assert [*results][:2] == ["staff", "orders"], text
        assert results["staff"][0][0] == f"/staff/{seller.pk}/?days=yesterday"
    for text in ("kasi kemarin", "kasir demo 50rb kemarin"):  # a part of a name; more words than name and days
        assert next(iter(found(owner, text))) == "orders", text
    assert next(iter(found(who(Role.CASHIER), "kasir demo kemarin"))) == "orders"


def test_a_word_for_earnings_opens_them_with_the_days_and_what_they_are_by():
    sold(1)
    owner = who(Role.OWNER)

    for text, query in [
        ("earned this week", "days=week"),
        ("laba minggu ini", "days=week"),
        ("how much did we earn yesterday?", "days=yesterday"),
        ("earnings by cashier", "by=person"),
        ("omzet per kasir bulan lalu", "days=last-month&by=person"),
        ("laba sebulan lalu", "days=last-month"),
        ("earned a week ago", "days=last-week"),
        ("sales by product 1 nov 2026 - 3 nov 2026", "since=2026-11-01&until=2026-11-03&by=product"),
    ]:
        results = found(owner, text)
        assert next(iter(results)) == "pages", text
        assert results["pages"][0][0] == f"/earnings/?{query}", text
        assert owner.get(results["pages"][0][0]).status_code == 200
    assert "since" in addresses(owner, "laba 30 hari terakhir", "pages")[0]
    with time_machine.travel(dt.datetime(2026, 11, 27, 5, tzinfo=dt.UTC), tick=False):  # a Friday
        for text, query in [
            ("laba 2 minggu lalu", "since=2026-11-09&until=2026-11-15"),
            ("laba 2 bulan lalu", "since=2026-09-01&until=2026-09-30"),
        ]:
            assert addresses(owner, text, "pages")[0] == f"/earnings/?{query}"
    for text in ("laba budi minggu ini", "this week", "earnings by branch"):
        assert not any("/earnings/?" in url for url in addresses(owner, text, "pages")), text
    assert "pages" not in found(who(Role.CASHIER), "laba minggu ini")


def test_a_drawer_leads_to_its_shifts_and_says_who_has_it_open():
    seller, drawer = make_person("cashier", username="rina"), Drawer.objects.create(name="Kasir depan")
    begin(seller, drawer=drawer)
    unused = Drawer.objects.create(name="Kasir lama", is_active=False)

    results = found(who(Role.AUDITOR), "kasir")["drawers"]

    assert [url for url, _words in results] == [f"/shifts/?drawer={drawer.pk}", f"/shifts/?drawer={unused.pk}"]
    assert "rina" in results[0][1]
    assert addresses(who(Role.SUPERVISOR), "depan", "drawers") == [f"/shifts/?drawer={drawer.pk}"]
    assert addresses(who(Role.CASHIER), "kasir", "drawers") == []


def test_a_page_is_found_by_the_words_that_people_have_for_it():
    make_product(name="Pulsa Deposit 10.000")
    browser_for = cache(who)
    for role, texts, address in [
        (
            Role.OWNER,
            ("branch", "cabang", "add a branch", "tambah cabang", "second shop", "toko kedua", "outlet", "gerai"),
            "/shop/branches/",
        ),
        (Role.OWNER, ("ways of alerts", "telegram"), "/balance/alerts/ways/"),
        (Role.OWNER, ("webhook",), "/callbacks/"),
        (Role.OWNER, ("quiet hours", "jam tenang"), "/shop/policies/"),
        (Role.OWNER, ("announce", "top-up", "topup", "deposit", "isi saldo"), "/balance/#announce-title"),
        (Role.CASHIER, ("close the drawer", "tutup laci"), "/drawer/"),
        (Role.OWNER, ("export", "ekspor"), "/files/"),
        (Role.OWNER, ("approve", "setujui"), "/approvals/"),
        (Role.OWNER, ("file transaksi", "download orders"), "/orders/"),
        (Role.OWNER, ("revenue", "omzet", "laba"), "/earnings/"),
        (Role.OWNER, ("bank statement", "mutasi bank", "qris"), "/bank/"),
        (Role.OWNER, ("margin", "harga jual"), "/products/prices/"),
        (
            Role.OWNER,
            ("closing", "daily closing", "sign the day", "tutup hari", "tutup harian", "tutup buku"),
            "/shifts/days/",
        ),
        (Role.OWNER, ("who owes", "hutang"), "/credit/"),
        (Role.AUDITOR, ("audit", "history", "riwayat", "verify"), "/audit/"),
        (Role.OWNER, ("incident", "insiden"), "/work/?kind=incident"),
        (Role.OWNER, ("outcome not known", "outcome unknown", "belum pasti"), "/orders/?status=unknown"),
        (Role.OWNER, ("never arrived", "tidak terkirim"), "/orders/?status=needs_action"),
        (Role.AUDITOR, ("full numbers", "nomor lengkap"), "/audit/?kind=full_number_seen"),
        (Role.OWNER, ("tax", "pajak", "PPN", "earnings by category"), "/earnings/?by=category&days=last-month"),
        (Role.OWNER, ("journal", "jurnal", "buku besar"), "/earnings/journal/"),
        (Role.OWNER, ("refund", "retur"), "/refunds/"),
        (Role.OWNER, ("fee", "biaya"), "/products/prices/"),
        (Role.OWNER, ("overdue", "due today", "terlambat", "jatuh tempo hari ini"), "/work/"),
        (Role.OWNER, ("jatuh tempo",), "/due/"),
        (Role.OWNER, ("debts overdue", "kasbon lewat jatuh tempo"), "/credit/?age=due"),
    ]:
        browser = browser_for(role)
        for text in texts:
            results = found(browser, text)
            assert next(iter(results)) == "pages", text
            assert results["pages"][0][0] == address, text


def test_an_order_is_found_by_the_beginning_of_its_ref_id(cashier):
    order = make_order(Status.SUCCESS, destination=NUMBER)

    assert addresses(cashier, order.ref_id[:12].lower(), "orders") == [order.get_absolute_url()]
    assert addresses(cashier, order.ref_id[:11], "orders") == []


def test_an_order_is_found_by_the_last_six_letters_of_its_ref_id(cashier):
    order, other = (make_order(Status.SUCCESS, ref_id=f"B251127-{name}") for name in ("AAAA7Q4KD2", "7Q4KD2AAAA"))

    for text in ("7Q4KD2", "7q4kd2", "7q4 kd2", "A7Q4KD2", "AAAA7Q4KD2"):
        assert addresses(cashier, text, "orders") == [order.get_absolute_url()], text
        assert addresses(cashier, text, "do") == [f"/arrived/?{urlencode({'q': text})}"], text
    for text in ("Q4KD2", "B7Q4KD2"):
        assert order.get_absolute_url() not in addresses(cashier, text, "orders"), text
    assert addresses(browser_of("viewer"), "7Q4KD2", "orders") == [order.get_absolute_url()]
    assert addresses(cashier, "2AAAA7Q4KD2", "orders") == []
    assert addresses(cashier, "4KD2AAAA", "orders") == [other.get_absolute_url()]


def test_a_ref_id_that_ends_in_digits_stands_before_the_numbers_that_end_so(cashier):
    by_number = make_order(Status.SUCCESS, destination="081298234567")
    read_out = make_order(Status.SUCCESS, ref_id="B251101-AAAA234567", created_at=timezone.now() - dt.timedelta(days=9))

    found_orders = addresses(cashier, "234567", "orders")

    assert found_orders == [read_out.get_absolute_url(), by_number.get_absolute_url()]


def test_an_exact_name_comes_first_and_products_with_letters_inside_only_alone(cashier):
    make_product(name="Prasarinita 10.000")
    assert "products" in found(cashier, "sari")
    for name in ("Adi Sarinah", "Bu Sari", "Sari"):
        make_customer(name)

    results = found(cashier, "sari")

    assert [words.split(">")[-1].strip() for _url, words in results["customers"]] == ["Sari", "Bu Sari", "Adi Sarinah"]
    assert "products" not in results
    assert "products" in found(cashier, "nita")


def test_a_text_that_names_days_sells_nothing(cashier):
    make_product(name="Telkomsel 10.000")

    assert "do" in found(cashier, "45 52000 19")
    assert "do" not in found(cashier, "45 52000 19 nov")
    assert "do" not in found(cashier, f"{NUMBER} kemarin")


def sold(days: int = 0, **facts) -> Order:
    return make_order(Status.SUCCESS, created_at=timezone.now() - dt.timedelta(days=days), **facts)


def test_a_line_with_an_amount_or_days_finds_its_orders_and_says_how_many_there_are():
    seller = make_person("cashier", username="kasir9", first_name="Kasir", last_name="Demo")
    orders = [sold(7, selling_price=52_000, destination=f"0812345678{n}02", placed_by=seller) for n in range(7)]
    other = sold(7, selling_price=90_000, destination="081234567802")
    supervisor = who(Role.SUPERVISOR)

    for text in ("50 ribu minggu lalu 02", "52000 last week 02", "kasir demo minggu lalu"):
        (listed, words), *hits = found(supervisor, text)["orders"]

        assert listed == f"/orders/?{urlencode({'q': text})}", text
        assert "7 " in words, text
        newest = [order.get_absolute_url() for order in sorted(orders, key=lambda row: row.created_at)[::-1]]
        assert [url for url, _words in hits] == newest[:5], text
    assert len(found(supervisor, "50 ribu minggu lalu", kind="orders")["orders"]) == 8
    only, last = found(supervisor, "90.000 minggu lalu")["orders"]
    assert (only[0], last[0]) == (other.get_absolute_url(), "/orders/?q=90.000+minggu+lalu")
    assert addresses(supervisor, "kasir demo minggu lalu", "staff") == [f"/staff/{seller.pk}/?days=last-week"]


def test_a_line_with_a_wrong_ending_offers_its_orders_without_it(cashier):
    sold(7, selling_price=52_000, destination="081234567802")

    (without, words), (listed, _zero) = found(cashier, "50 ribu minggu lalu 03")["orders"]

    assert listed == "/orders/?q=50+ribu+minggu+lalu+03"
    assert without == "/orders/?amount_from=45000&amount_to=55000&days=last-week"
    assert words.split(" ")[-2] == "1"
    assert len(found(cashier, "minggu lalu 03")["orders"]) == 2
    assert len(found(cashier, "20 ribu kemarin 03")["orders"]) == 1


def test_an_empty_list_of_orders_stands_behind_all_that_is_found(cashier):
    make_product(name="GoPay 50.000", code="GP50", brand="GoPay")

    results = found(cashier, "gopay 50.000")

    assert list(results) == ["products", "orders"]
    assert [url for url, _zero in results["orders"]] == ["/orders/?q=gopay+50.000"]


def test_a_products_own_name_in_a_line_is_no_price():
    gopay = make_product(name="GoPay 20.000", code="GP20", brand="GoPay")
    order = sold(1, product=gopay, selling_price=23_500)
    sold(1, selling_price=20_500)

    assert order.get_absolute_url() == addresses(who(Role.CASHIER), "gopay 20.000 kemarin", "orders")[0]


def test_a_number_with_days_finds_its_orders_of_these_days_alone(cashier):
    earlier, later = sold(1, destination=NUMBER), sold(destination=NUMBER)

    results = addresses(cashier, f"{NUMBER} kemarin", "orders")

    assert earlier.get_absolute_url() in results
    assert later.get_absolute_url() not in results


def test_digits_of_a_masked_number_narrow_no_line():
    sold(1, selling_price=50_000, destination="081234567802")
    auditor = who(Role.AUDITOR)

    for text in ("50rb kemarin 02", "50rb kemarin 99", "kemarin 7802"):
        assert all("/orders/?q=" in url for url in addresses(auditor, text, "orders")), text


def test_an_ending_that_nobody_has_finds_no_products(cashier):
    make_product(name="Telkomsel 10.000")

    for text in ("7391", "akhiran 7391", "81237391"):
        assert "products" not in found(cashier, text), text
    assert addresses(cashier, "10000", "products")
    assert addresses(cashier, "tel 10", "products")


def test_the_list_of_orders_gives_way_to_a_product_that_is_named_with_its_amount(cashier):
    make_product(name="Telkomsel 10.000")

    assert list(found(cashier, "tel 10")) == ["products"]
    assert addresses(cashier, "tel 02", "orders") == ["/orders/?q=tel+02"]


def test_the_last_sale_is_offered_again_for_the_price_of_now():
    make_customer("Bu Sari", (NUMBER, "phone"))
    last = sold(2, destination=NUMBER)
    Product.objects.filter(pk=last.product_id).update(selling_price=last.customer_pays + 500)

    groups = who(Role.CASHIER).get("/find/", {"q": "bu sari"}).context["groups"]

    offer = next(result for _kind, results in groups for result in results if "again" in result.url)
    assert rupiah(last.customer_pays + 500) in offer.more


def test_a_customers_name_offers_to_sell_the_last_sale_again():
    make_customer("Bu Sari", (NUMBER, "phone"), (OTHER, "phone"))
    sold(5, destination=NUMBER)
    last = sold(2, destination=OTHER)
    make_order(Status.FAILED, destination=NUMBER)

    cashier = who(Role.CASHIER)
    results = found(cashier, "bu sari")

    assert next(iter(results)) == "customers"
    assert results["customers"][1][0] == f"/counter/review/?{urlencode({'again': last.ref_id})}"
    assert cashier.get(results["customers"][1][0]).status_code == 200
    make_customer("Sari Dewi", ("081298761111", "phone"))
    assert len(found(cashier, "sari")["customers"]) == 2
    for role in (Role.AUDITOR, Role.VIEWER):
        assert not any("again" in url for url in addresses(who(role), "bu sari", "customers"))


def test_a_sale_elsewhere_hides_no_older_one_of_the_own_branch():
    make_customer("Bu Sari", (NUMBER, "phone"))
    here, elsewhere = make_person("cashier", username="here"), make_person("cashier", branch=make_branch("Tebet"))
    own = sold(5, destination=NUMBER, placed_by=here)
    sold(2, destination=NUMBER, placed_by=elsewhere)
    bound = browser_of("supervisor", bound_since="2026-01-01T00:00Z")

    results = addresses(bound, "bu sari", "customers")

    assert results[1:] == [f"/counter/review/?{urlencode({'again': own.ref_id})}"]


def test_the_only_kind_says_that_there_is_no_other(cashier):
    sold(destination=NUMBER)
    make_product(name="Telkomsel 10.000")

    answers = {text: cashier.get("/find/", {"q": text}).content.decode() for text in ("tel 10", NUMBER, "zzzz")}

    assert [text for text, page in answers.items() if "data-only" in page] == ["tel 10"]


def test_who_sees_one_branch_learns_nothing_of_the_names_in_another():
    # given: two people called "Dua"; the whole text would mean "Kasir Dua" of another branch
    here = make_person("cashier", username="dua", first_name="Dua")
    bound = browser_of("supervisor", username="bound", bound_since="2026-01-01T00:00Z")
    before = addresses(bound, "kasir dua kemarin", "staff")

    make_person("cashier", username="other", first_name="Kasir Dua", branch=make_branch("Tebet"))

    assert before == [f"/staff/{here.pk}/?days=yesterday"]
    assert addresses(bound, "kasir dua kemarin", "staff") == before


def test_a_branch_leads_to_its_figures_for_people_who_see_all():
    auditor = who(Role.AUDITOR)
    assert addresses(auditor, "pusat", "branches") == []

    branch = make_branch("Pasar Baru")

    for text in ("pasar", "baru", "Pasar Baru"):
        assert addresses(auditor, text, "branches") == [f"/?branch={branch.pk}"], text
    bound = browser_of("supervisor", username="bound", branch_id=branch.pk, bound_since="2026-01-01T00:00Z")
    assert [addresses(browser, "pasar", "branches") for browser in (who(Role.CASHIER), bound)] == [[], []]
