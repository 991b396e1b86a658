"""Find anything: each kind by typed words, for people who may see it, and never a number that they may not see."""

import datetime as dt
import html
import re
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from catalogue.models import Product
from complaints.models import Complaint, State
from complaints.services import move_complaint, open_complaint
from core.money import rupiah
from core.rights import Role
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from testing.factories import make_biller, make_check, make_order, make_product
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.credit.helpers import give_credit, sell_to
from tests.customers.helpers import make_customer
from tests.find.helpers import NUMBER, OTHER, addresses, found, sold, who

pytestmark = pytest.mark.django_db

# The kinds of results for a number that has all of them; and those that a role with fewer rights sees.
ALL = ["do", "customers", "orders", "bills", "complaints"]
SEEN = {
    Role.VIEWER: ["do", "orders", "bills"],
    Role.AUDITOR: ["do", "orders", "bills", "complaints"],
}


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
    with django_assert_max_num_queries(14) as asked:
        found(browser, OTHER)
    assert not any("now_standing" in query["sql"] for query in asked), "there is no bill"


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


def test_an_sn_that_looks_like_a_number_leads_to_its_order_and_sells_nothing(cashier):
    earlier = timezone.now() - dt.timedelta(days=8)
    for nth, sn in enumerate(["49170031220", "58170031221/BUDI/R1", "6717-0031-2200-5566-7788"]):
        facts = {"destination": f"08129876543{nth}", "trx_id": f"T{nth}"}
        order = make_order(Status.SUCCESS, sn=sn, created_at=earlier, **facts)
        # Newer, and with the same beginning.
        make_order(Status.SUCCESS, destination=OTHER, sn=f"{sn.partition('/')[0]}9", trx_id=f"N{nth}")

        for text in {sn, sn.partition("/")[0]}:
            results = found(cashier, text)
            assert [url.partition("?")[0] for url, _words in results["do"]] == ["/arrived/"], text
            assert next(iter(results)) == "do"
            assert results["orders"][0][0] == order.get_absolute_url(), text

    # a number that an SN repeats is sold for
    make_order(Status.SUCCESS, destination=NUMBER, sn=f"{NUMBER}/BUDI", created_at=earlier)
    assert addresses(cashier, NUMBER, "do")[0] == f"/counter/?q={NUMBER}"


def test_without_the_right_to_full_numbers_no_digits_lead_to_one(number_with_everything):
    for role in (Role.VIEWER, Role.AUDITOR):
        browser = who(role)

        shown = " ".join(words for rows in found(browser, "TRX77").values() for _url, words in rows)
        assert "0812-••••-•432" in shown, role
        assert NUMBER not in re.sub(r"\W", "", shown)
        for part in (NUMBER[-4:], NUMBER[-8:], NUMBER[:-1]):
            assert not set(found(browser, part)) & {"do", "orders", "bills", "customers"}, (role, part)
        results = found(browser, NUMBER)
        rows = [words for kind in ("orders", "bills", "complaints") for _url, words in results.get(kind, [])]
        assert {"orders", "bills"} <= results.keys()
        assert [row for row in rows if NUMBER in re.sub(r"\W", "", row)] == [], role


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
    # the only kind says that there is no other
    sold(destination=NUMBER)
    answers = {text: cashier.get("/find/", {"q": text}).content.decode() for text in ("tel 10", NUMBER, "zzzz")}
    assert [text for text, page in answers.items() if "data-only" in page] == ["tel 10"]

    make_product(name="Telkomsel 812")
    for beginning in ("0812", "+62812"):
        assert addresses(cashier, beginning, "products") == [], "the beginning of a number"


def test_without_a_script_it_is_a_page_whose_list_has_a_closed_complaint_too(number_with_everything, cashier):
    actor = User.objects.get(username="helper")
    move_complaint(Complaint.objects.get(), to=State.CLOSED, words="it came", actor=actor)

    page = cashier.get("/find/", {"q": NUMBER}).content.decode()

    assert page.count('id="find-q"') == page.count('id="find-results"') == 1
    assert f'value="{NUMBER}"' in page
    assert f'href="/find/?q={NUMBER}&amp;kind=orders"' in page
    (address,) = re.findall(r'href="(/complaints/\?[^"]+)"', page)
    assert 'id="row-' in cashier.get(html.unescape(address)).content.decode()


def test_an_order_is_found_by_the_beginning_or_the_last_six_letters_of_its_ref_id(cashier):
    order, other = (make_order(Status.SUCCESS, ref_id=f"B251127-{name}") for name in ("AAAA7Q4KD2", "7Q4KD2AAAA"))

    assert addresses(cashier, order.ref_id[:12].lower(), "orders") == [order.get_absolute_url()]
    assert addresses(cashier, order.ref_id[:11], "orders") == []
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


def test_a_customers_name_offers_to_sell_the_last_sale_again_for_the_price_of_now():
    make_customer("Bu Sari", (NUMBER, "phone"), (OTHER, "phone"))
    sold(5, destination=NUMBER)
    last = sold(2, destination=OTHER)
    make_order(Status.FAILED, destination=NUMBER)
    Product.objects.filter(pk=last.product_id).update(selling_price=last.customer_pays + 500)

    cashier = who(Role.CASHIER)
    results = found(cashier, "bu sari")

    assert next(iter(results)) == "customers"
    assert results["customers"][1][0] == f"/counter/review/?{urlencode({'again': last.ref_id})}"
    assert cashier.get(results["customers"][1][0]).status_code == 200
    groups = cashier.get("/find/", {"q": "bu sari"}).context["groups"]
    offer = next(result for _kind, results in groups for result in results if "again" in result.url)
    assert rupiah(last.customer_pays + 500) in offer.more
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


def test_who_sees_one_branch_learns_nothing_of_the_names_in_another():
    # given: two people called "Dua"; the whole text would mean "Kasir Dua" of another branch
    here = make_person("cashier", username="dua", first_name="Dua")
    bound = browser_of("supervisor", username="bound", bound_since="2026-01-01T00:00Z")
    before = addresses(bound, "kasir dua kemarin", "staff")

    make_person("cashier", username="other", first_name="Kasir Dua", branch=make_branch("Tebet"))

    assert before == [f"/staff/{here.pk}/?days=yesterday"]
    assert addresses(bound, "kasir dua kemarin", "staff") == before
