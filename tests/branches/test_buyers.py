"""The customers of a branch are those who have bought there."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from branches.models import FIRST
from customers.models import Customer
from drawers.services import merge_customers
from exports.models import Export
from exports.services import content_of
from exports.tasks import write_list
from testing.factories import make_order
from testing.people import browser_of, make_person, signed_in
from tests.branches.helpers import make_branch
from tests.customers.helpers import make_customer
from tests.exports.helpers import csv_rows
from tests.plans import GROWING, asked, copy_many, too_wide, weigh

pytestmark = pytest.mark.django_db(transaction=True)

EVERYBODY = ["Ani", "Budi", "Edo", "Sari"]


@pytest.fixture
def shop() -> dict[str, int]:
    """Sari bought in the first branch, Budi in Tebet, Ani in both, Edo nowhere; returns the branches' keys."""
    keys = {"first": FIRST, "tebet": make_branch("Tebet").pk}
    for number, name in enumerate(EVERYBODY):
        make_customer(name, (f"08120000000{number}", "phone"))
    for place, names in {"first": ["Sari", "Ani"], "tebet": ["Budi", "Ani", "Ani"]}.items():
        seller = make_person("cashier", username=place, branch_id=keys[place])
        for name in names:
            number = Customer.objects.get(name=name).numbers.get().destination
            make_order("success", placed_by=seller, destination=number)
    return keys


def names_shown(browser, query="") -> list[str]:
    """The names on the list's page, in its order."""
    return [customer.name for customer in browser.get(f"/customers/{query}").context["table"].rows]


def names_in_files(browser, query) -> list[list[str]]:
    """The names in the file that comes at once, and in the worker's file."""
    now = b"".join(browser.get(f"/customers/file/{query}&format=csv").streaming_content)
    browser.post(f"/customers/file/{query}&format=csv")
    export = Export.objects.first()
    write_list(export.pk)
    return [sorted(row["name"] for row in csv_rows(content)) for content in (now, b"".join(content_of(export)))]


def test_list_foot_and_files_hold_those_who_bought_there(shop):
    browser = browser_of("supervisor")
    assert names_shown(browser) == EVERYBODY

    for place, names in {"first": ["Ani", "Sari"], "tebet": ["Ani", "Budi"]}.items():
        query = f"?branch={shop[place]}"
        assert names_shown(browser, query) == names, place
        assert names_in_files(browser, query) == [names, names], place
        assert browser.get(f"/customers/sums/{query}").context["count"] == 2, place
        assert names_shown(browser, f"{query}&q=Ani") == ["Ani"], place
        assert names_shown(browser, f"{query}&q=Edo") == [], place

    page = browser.get(f"/customers/?branch={make_branch('Depok').pk}").content.decode()
    assert 'id="none-matches"' in page, "sold to nobody"
    assert "Bought in branch" in page
    bound = signed_in(make_person("supervisor", username="bound", bound_since=timezone.now()))
    assert names_shown(bound, f"?branch={shop['tebet']}") == EVERYBODY, "a bound person sees all, and no filter"
    assert 'name="branch"' not in bound.get("/customers/").content.decode()


def test_what_a_merged_customer_bought_counts_for_the_one_who_stays(shop):
    edo, budi = Customer.objects.get(name="Edo"), Customer.objects.get(name="Budi")
    kept = merge_customers(edo, budi, name="Edo", note="", actor=make_person("admin"))
    assert kept == edo

    browser = browser_of("supervisor")

    assert names_shown(browser, f"?branch={shop['tebet']}") == ["Ani", "Edo"]
    assert names_shown(browser, f"?branch={shop['first']}") == ["Ani", "Sari"]


def test_a_shop_with_one_branch_lists_all_under_an_old_link():
    for name in EVERYBODY:
        make_customer(name)
    browser = browser_of("supervisor")

    assert names_shown(browser, f"?branch={FIRST}") == EVERYBODY
    assert 'name="branch"' not in browser.get("/customers/").content.decode()


def test_customers_of_a_branch_are_found_by_an_index(shop):
    paid = make_order("success", destination="081200000003").payment  # Sari's, in the first branch
    copy_many("drawers_payment", paid, id="o.id + 1000000 + n", ref_id="'many' || n")
    copy_many("customers_customer", Customer.objects.get(name="Edo"), id="o.id + 1000000 + n", name="'Zoe ' || n")
    weigh("customers_customer")
    browser, growing = browser_of("supervisor"), GROWING | {"customers_customer"}

    for query, count in ((f"?branch={shop['tebet']}", 2), (f"?branch={make_branch('Depok').pk}", 0)):
        with CaptureQueriesContext(connection) as queries:
            found = names_shown(browser, query) if count else browser.get(f"/customers/{query}").context["page"]
        assert len(found) == count
        assert [*too_wide(asked(queries.captured_queries), growing)] == [], query
