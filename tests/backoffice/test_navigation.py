"""A person's places: at the side, and on a phone in five tabs."""

import re

import pytest
from django.contrib.auth.models import Group, Permission

from purchases.states import Status
from staff.models import User
from testing.factories import make_biller, make_check, make_order
from testing.people import browser_of
from tests.branches.helpers import make_branch
from tests.customers.helpers import make_customer
from tests.dues.helpers import due_bill

pytestmark = pytest.mark.django_db


def named(page: str, start: str, end: str) -> list[str]:
    """The places, and the pages of places, between two marks of the page, in their order."""
    return re.findall(r'data-(?:group|place)="(\w+)"', page.split(start)[1].split(end, maxsplit=1)[0])


PLACES = {
    "today": ["overview"],
    "sell": ["counter", "batches", "arrived", "catalogue", "drawer"],
    "work": ["work", "approvals", "refunds", "dues", "complaints"],
    "records": ["orders", "bills", "customers", "credit", "shifts"],
    "money": ["earnings", "balance", "prices", "bank", "days"],
    "office": ["people", "branches", "tills", "drawers", "shop", "files", "workbench", "callbacks"],
}


@pytest.mark.parametrize(
    ("role", "tabs", "hidden"),
    [
        (
            "cashier",
            ["counter", "work", "orders", "drawer"],
            {"credit", "shifts", "money", "earnings", "balance", "prices", "bank", "days", "office", *PLACES["office"]},
        ),
        (
            "viewer",
            ["today", "work", "records", "sell"],
            {
                "counter",
                "batches",
                "drawer",
                "approvals",
                "refunds",
                "dues",
                "complaints",
                "customers",
                "credit",
                "shifts",
            }
            | {"money", "earnings", "balance", "prices", "bank", "days", "office", *PLACES["office"]},
        ),
        (
            "auditor",
            ["today", "work", "records", "money"],
            {"counter", "batches", "drawer", "dues", "customers", *PLACES["office"]} - {"files", "workbench"},
        ),
        ("admin", ["today", "work", "records", "money"], {"callbacks"}),
    ],
)
def test_each_page_has_one_place_and_a_phone_has_four_tabs(role, tabs, hidden):
    make_branch("Tebet")
    page = browser_of(role).get("/me/").content.decode()

    side = named(page, "nav-main", "</nav>")
    assert side == [name for place, pages in PLACES.items() for name in (place, *pages) if name not in hidden]
    assert named(page, 'id="tabs"', 'id="more"') == tabs
    more = named(page, 'id="more"', "</nav>")
    led_to = {name for tab in tabs for name in PLACES[tab]} if set(tabs) <= set(PLACES) else set(tabs)
    shown = {name for pages in PLACES.values() for name in pages if name in side}
    assert set(more) == shown - led_to, "each page that no tab leads to, and no other"
    is_office = [name in PLACES["office"] for name in more]
    assert is_office == sorted(is_office, reverse=True), "the office comes first"


def test_people_who_make_files_of_lists_find_them_in_the_office():
    browser = browser_of("supervisor")
    page = browser.get("/files/").content.decode()

    assert {"office", "files"} <= set(named(page, "nav-main", "</nav>"))
    assert 'data-place="files"' in page.split("nav-main")[1].split('aria-current="page"')[0].rpartition("<a")[2]

    # a queue of which work shows nothing leads to its list
    Group.objects.get(name="supervisor").permissions.remove(Permission.objects.get(codename="view_order"))
    side = browser.get("/me/").content.decode().split("nav-main")[1].split("</nav>")[0]
    assert 'href="/complaints/" data-place="complaints"' in side


def test_without_any_right_there_is_today():
    page = browser_of("").get("/me/").content.decode()

    assert named(page, "nav-main", "</nav>") == ["today", "overview"]


def test_the_tab_of_the_page_is_marked_and_more_for_every_other(cashier):
    orders, preferences = (cashier.get(address).content.decode() for address in ("/orders/", "/me/"))

    tabs = orders.split('id="tabs"')[1].split("</nav>")[0]
    assert re.findall(r'data-place="(\w+)"\s+aria-current="page"', tabs) == ["orders"]
    assert 'aria-current="true"' not in tabs
    assert '<summary aria-current="true">' in preferences.split('id="more"')[1]
    assert 'aria-current="page"' not in cashier.get("/no/such/page/").content.decode()


def test_a_page_opens_its_place_and_queues_filter_work(admin):
    for address, place, page in [
        ("/counter/", "sell", "counter"),
        ("/products/", "sell", "catalogue"),
        ("/products/prices/", "money", "prices"),
        ("/products/price-changes/", "money", "prices"),
        ("/drawer/", "sell", "drawer"),
        ("/drawers/", "office", "drawers"),
        ("/shifts/", "records", "shifts"),
        ("/balance/statement/", "money", "balance"),
        ("/balance/alerts/", "money", "balance"),
        ("/approvals/", "work", "approvals"),
        ("/refunds/", "work", "refunds"),
        ("/work/", "work", "work"),
        ("/work/?kind=approval", "work", "approvals"),
        ("/work/?kind=refund&whose=", "work", "refunds"),
        ("/work/?kind=due", "work", "dues"),
        ("/work/?kind=complaint", "work", "complaints"),
        ("/work/?kind=order", "work", "work"),
        ("/due/", "work", "dues"),
        ("/complaints/", "work", "complaints"),
        ("/credit/", "records", "credit"),
        ("/staff/roles/", "office", "people"),
        ("/shop/policies/", "office", "shop"),
        ("/health/", "office", "shop"),
        ("/exchanges/", "office", "workbench"),
        ("/callbacks/", "office", "workbench"),
    ]:
        side = admin.get(address).content.decode().split("nav-main")[1].split("</nav>")[0]

        assert re.findall(r'data-group="(\w+)"\s+aria-current="true"', side) == [place], address
        assert re.findall(r'data-place="(\w+)"\s+aria-current="page"', side) == [page], address
        assert side.count('<div class="place-pages">') == 1, address

    links = {name: url for url, name in re.findall(r'href="([^"]+)" data-place="(\w+)"', side)}
    assert links["work"] == "/work/"
    for name, kind in (("approvals", "approval"), ("refunds", "refund"), ("dues", "due"), ("complaints", "complaint")):
        assert links[name] == f"/work/?kind={kind}"


@pytest.mark.parametrize("role", ["cashier", "administrator"])
def test_no_page_leads_to_what_a_person_may_not_see(role):
    biller, order = make_biller(), make_order(Status.SUCCESS)
    customer = make_customer("Bu Sari", ("081234567890", "phone"), ("99990001", biller))
    check = make_check(product=biller)
    due_bill("99990002")
    browser, held = browser_of(role), Group.objects.get(name=role).permissions
    pages = ["/", "/orders/", "/bills/", "/due/", "/work/", f"/customers/{customer.pk}/", "/counter/?q=zara"]
    pages += [order.get_absolute_url(), check.get_absolute_url(), *(["/shop/"] if role == "administrator" else [])]

    def led() -> str:
        """The addresses to which the pages lead."""
        shown = "".join(browser.get(page).content.decode() for page in pages)
        return "\n".join(re.findall(r'(?:href|action)="(/[^"]*)"', shown))

    with_all = led()
    for codename, place in (
        ("view_product", r"(?m)^/(?:counter|products)/"),
        ("view_customer", r"(?m)^/customers/"),
        ("view_billcheck", r"(?m)^/counter/batch/"),
    ):
        right = Permission.objects.get(codename=codename)
        held.remove(right)
        assert re.search(place, with_all)
        assert not re.search(place, led()), codename
        held.add(right)


def test_given_a_right_is_taken_away_then_its_places_are_gone_at_once():
    browser = browser_of("supervisor")
    person = User.objects.get(username="supervisor")
    before = browser.get("/me/").content.decode()

    Group.objects.get(name="supervisor").permissions.remove(Permission.objects.get(codename="buy"))
    after = browser.get("/me/").content.decode()

    assert [page.count('data-place="counter"') for page in (before, after)] == [2, 0]
    assert [page.count('href="/me/pin/"') for page in (before, after)] == [2, 0]
    assert [page.count("<dt><kbd>A</kbd></dt>") for page in (before, after)] == [1, 0]
    person.language = "en"
    person.save()
    assert "Signed in as supervisor" in browser.get("/me/").content.decode()


def test_two_people_with_the_same_rights_have_each_their_own_name_on_the_page():
    pages = [browser_of("cashier", username=name).get("/me/").content.decode() for name in ("sari", "budi")]

    assert [page.count("sari") > 0 for page in pages] == [True, False]
    assert [page.count("budi") > 0 for page in pages] == [False, True]
