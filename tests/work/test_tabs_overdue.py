"""Work shows the number and the sum of overdue tabs, the same as the list to which it leads."""

import re

import pytest
from django.contrib.auth.models import Group, Permission

from branches.models import FIRST
from customers.models import Customer
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import amounts_at, counts_at, has_id, words_at
from tests.credit.helpers import give_credit, made_due, sell_to

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def second():
    """The second of two branches: it has one overdue tab; the first has two overdue tabs and one that is not."""
    branch = make_branch("Tebet")
    here, there = (make_person("cashier", username=f"cashier-{key}", branch_id=key) for key in (FIRST, branch.pk))
    for name, seller, amount, days in [
        ("Bu Ani", here, 10_000, 1),
        ("Bu Sri", here, 20_500, 40),
        ("Pak Budi", there, 40_000, 3),
    ]:
        customer = give_credit(name)
        sell_to(customer, amount, by=seller)
        made_due(customer, days)
    sell_to(give_credit("Pak Baru"), 5_000, by=here)
    return branch


def test_the_links_to_overdue_tabs_say_what_their_list_has(second):
    owner = browser_of("admin")
    bound = browser_of("supervisor", username="bound", branch_id=second.pk, bound_since="2026-01-01T00:00Z")
    for browser, query, count, owed in [
        (owner, "", 3, "Rp70.500"),
        (owner, f"?branch={second.pk}", 1, "Rp40.000"),
        (bound, "", 1, "Rp40.000"),
    ]:
        work, overview = browser.get(f"/work/{query}"), browser.get(f"/work/first/{query}")

        assert amounts_at(overview, 'id="work-debts"') == [owed]
        address = re.search(r'id="work-debts" href="([^"]+)"', work.content.decode())[1].replace("&amp;", "&")
        shown = browser.get(address)
        assert len(shown.context["table"].rows) == counts_at(work, 'id="work-debts"')[0] == count
        assert has_id(shown, "only-overdue")
        assert amounts_at(shown, 'id="owed-in-all"') == amounts_at(work, 'id="work-debts"') == [owed]


@pytest.fixture
def customers_hidden(transactional_db: None):
    """Hide customers from supervisors; taken back afterwards, because a test's committed roles stay."""
    role, right = Group.objects.get(name="supervisor"), Permission.objects.get(codename="view_customer")
    role.permissions.remove(right)
    yield
    role.permissions.add(right)


@pytest.mark.usefixtures("customers_hidden")
@pytest.mark.parametrize(("page", "has_amounts"), [("/work/", True), ("/work/first/", False)])
def test_up_to_three_customers_with_overdue_tabs_are_named(second, page, has_amounts):
    owner = browser_of("admin")

    few = owner.get(page)
    sell_to(debtor := give_credit("Mbak Nita"), 7_000, by=make_person("cashier"))
    made_due(debtor, 2)
    many = owner.get(page)

    # then the first accounts are named with their days; Work also names the debt of each
    first, *_others = words_at(few, 'id="work-debtors"').split(",")
    assert first.split() == ["Bu", "Ani", *(["Rp10.000"] if has_amounts else []), "(3", "days", "late)"]
    for answer in (few, many):
        debtors = words_at(answer, 'id="work-debtors"')
        assert re.findall(r"(?:Bu|Pak) \w+", debtors) == ["Bu Ani", "Bu Sri", "Pak Budi"]
        amounts = ["Rp10.000", "Rp20.500", "Rp40.000"] if has_amounts else []
        assert amounts_at(answer, 'id="work-debtors"') == amounts
    assert "more" not in words_at(few, 'id="work-debtors"')
    assert words_at(many, 'id="work-debtors"').strip().endswith("and 2 more")
    nameless = browser_of("supervisor", username="other")
    assert amounts_at(nameless.get(page), 'id="work-debts"') == ["Rp82.500"]
    assert not has_id(nameless.get(page), "work-debtors")


def test_without_overdue_tabs_or_the_right_to_see_them_none_are_said(second):
    clerk, owner = browser_of("cashier"), browser_of("admin")
    assert (has_id(owner.get("/work/"), "work-debts"), has_id(clerk.get("/work/"), "work-debts")) == (True, False)

    for name in ("Bu Ani", "Bu Sri", "Pak Budi"):
        made_due(Customer.objects.get(name=name), -1)

    assert not has_id(owner.get("/work/"), "work-debts")
    assert counts_at(owner.get(f"/work/?branch={second.pk}"), 'id="work-debts"')[0] == 0, "of one branch it is said"
