"""Each list of a branch's rows is narrowed by the branch, from the second branch on."""

import datetime as dt
import re
from collections.abc import Iterator

import pytest
from django.urls import get_resolver
from django.utils import timezone

from alerts.models import Alert
from audit.models import AuditEvent
from audit.services import record
from branches.events import BRANCH_CHANGED
from branches.filters import InBranches
from branches.models import FIRST, Branch
from callbacks.filters import CallbackFilter
from catalogue.filters import PriceChangeFilter
from complaints.services import open_complaint
from core.filters import ListFilter
from drawers.models import Drawer
from ledger.filters import StatementFilter
from purchases.filters import OfOrderFilter
from purchases.models import Incident
from purchases.services.verdicts import propose_verdict
from reconciliation.filters import DifferenceFilter, RunFilter
from shop.models import Shop
from staff.models import User
from testing.database import past_triggers
from testing.factories import make_check, make_order, make_payment
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import ask_purchase, cashier
from tests.branches.helpers import make_branch
from tests.branches.two_branches import make_batch
from tests.drawers.helpers import begin
from tests.tills.helpers import make_till
from workbench.filters import ExchangeFilter

pytestmark = pytest.mark.django_db

LISTS = (
    *("/approvals/", "/complaints/", "/bills/", "/tills/", "/audit/", "/customers/", "/balance/alerts/", "/batches/"),
    "/batches/rows/",
)
# docs/branches.md says why: these are facts of the one account at the provider, and of the whole shop's prices.
OF_THE_SHOP = {
    *(StatementFilter, DifferenceFilter, RunFilter, CallbackFilter, ExchangeFilter),
    PriceChangeFilter,
    OfOrderFilter,  # not a list: several lists share it
}


@pytest.fixture
def shop():
    """The same things in the first branch and in Tebet."""
    tebet = make_branch()
    andi, siti = cashier("andi", own_approval_above=10_000), cashier("siti", own_approval_above=10_000, branch=tebet)
    shop = {"tebet": tebet.pk}
    for name, person in {"first": andi, "tebet": siti}.items():
        held = make_order("needs_action", placed_by=person, action_reason="balance_short")
        make_order("reversed", placed_by=person)
        Incident.objects.create(order=held, kind="contradiction", source="poll", detail="failed after success")
        paid = make_check()
        make_payment(paid, "success", placed_by=person)
        shop[f"complaint of {name}"] = open_complaint(held, words="nothing came", actor=person)
        shop[f"bill of {name}"] = paid
        shop[f"approval of {name}"] = ask_purchase(person, f"08123456789{len(shop)}")
        shop[f"till of {name}"] = make_till(name=f"Till of {name}", branch_id=person.branch_id)
        record(BRANCH_CHANGED, actor=person, subject="1")
        shop[f"event of {name}"] = AuditEvent.objects.latest("pk")
        shop[f"batch of {name}"] = batch = make_batch(person.branch, name=name, number="081200000001")
        shop[f"row of {name}"] = batch.rows.get()
        facts = {"branch": person.branch_id}
        shop[f"alert of {name}"] = Alert.objects.create(kind="complaint_overdue", severity=2, key=name, facts=facts)
    return shop


def every_filter(parent: type[ListFilter] = ListFilter) -> Iterator[type[ListFilter]]:
    for child in parent.__subclasses__():
        yield child
        yield from every_filter(child)


def test_every_list_has_the_filter_but_those_of_the_whole_shop():
    assert get_resolver().url_patterns  # every room's filters are loaded

    without = {each for each in every_filter() if not issubclass(each, InBranches)}

    assert without == OF_THE_SHOP
    assert [each for each in every_filter(InBranches) if "branch" not in each.base_filters] == []


def test_a_list_of_a_shop_with_one_branch_has_no_filter_for_it(admin):
    assert [page for page in (*LISTS, "/work/") if 'branch="' in admin.get(page).content.decode()] == []
    assert [page for page in LISTS if 'name="branch"' in admin.get(page).content.decode()] == []
    assert 'id="branch-links"' not in admin.get("/drawers/").content.decode()


def test_a_list_is_narrowed_by_branch(admin, shop):
    def keys(address: str) -> set[int]:
        shown = admin.get(address).context["page"]
        return {row.pk for row in getattr(shown, "rows", None) or shown.object_list}

    for page, thing in (
        ("/approvals/?act=order", "approval"),
        ("/complaints/?state=all", "complaint"),
        ("/bills/?state=paid", "bill"),
        ("/tills/?", "till"),
        ("/audit/?kind=branch_changed", "event"),
        ("/balance/alerts/?", "alert"),
        ("/batches/?", "batch"),
    ):
        both = {shop[f"{thing} of first"].pk, shop[f"{thing} of tebet"].pk}
        assert keys(page) >= both, page
        assert keys(f"{page}&branch={shop['tebet']}") & both == {shop[f"{thing} of tebet"].pk}, page


def test_rows_of_batches_are_narrowed_by_branch_unless_of_one_batch(admin, shop):
    def keys(query: str) -> list[int]:
        return [row.pk for row in admin.get(f"/batches/rows/?{query}").context["table"].rows]

    first, tebet = shop["row of first"], shop["row of tebet"]
    assert keys("") == [tebet.pk, first.pk]
    assert keys(f"branch={shop['tebet']}") == [tebet.pk]
    assert keys(f"branch={shop['tebet']}&batch={first.batch_id}") == [first.pk]
    assert 'name="branch"' not in admin.get(f"/batches/rows/?batch={first.batch_id}").content.decode()


def test_the_drawers_are_narrowed_by_branch(admin, shop):
    for branch in (FIRST, shop["tebet"]):
        Drawer.objects.create(name=f"Drawer {branch}", branch_id=branch)

    def shown(query: str) -> list[str]:
        return [drawer.name for drawer, _shift in admin.get(f"/drawers/{query}").context["drawers"]]

    assert len(shown("")) == 2
    assert shown(f"?branch={shop['tebet']}") == [f"Drawer {shop['tebet']}"]
    assert len(shown("?branch=x")) == 2


def test_the_list_of_work_is_narrowed_by_branch(admin, shop):
    def kinds(query: str) -> list[str]:
        return sorted(re.findall(r'<tr id="row-(\w+)-\d+"', admin.get(f"/work/?whose=shop{query}").content.decode()))

    of_one = ["approval", "complaint", "incident", "order", "refund"]
    assert kinds("") == sorted(of_one * 2)
    assert kinds(f"&branch={shop['tebet']}") == of_one
    page = admin.get("/work/?whose=shop").content.decode()
    assert re.findall(r"data-of-branch>(\w+)<", page).count("Tebet") == len(of_one)
    assert "data-of-branch" not in admin.get(f"/work/?whose=shop&branch={shop['tebet']}").content.decode()
    assert f"&amp;branch={shop['tebet']}" in admin.get(f"/work/live/?branch={shop['tebet']}").content.decode()


def test_work_does_not_name_the_place_that_has_the_name_of_the_shop(admin, shop):
    first, pages = Branch.objects.get(pk=FIRST).name, ("/work/?whose=shop", "/work/first/")

    def named() -> list[set[str]]:
        return [set(re.findall(r"data-of-branch>([^<]+)<", admin.get(page).content.decode())) for page in pages]

    Shop.objects.create(name=first)
    assert named() == [{"Tebet"}] * 2
    Shop.objects.update(name="Another name")
    assert named() == [{"Tebet", first}] * 2


def test_a_decision_belongs_to_the_branch_of_its_order(shop):
    order = make_order("success", placed_by=make_person("cashier", username="rina", branch_id=shop["tebet"]))
    proposer = make_person("supervisor")
    facts = {"outcome": "reversed", "evidence": "portal", "reason": "says so"}

    verdict = propose_verdict(order, actor=proposer, **facts)

    assert (proposer.branch_id, verdict.approval.branch_id) == (1, shop["tebet"])


def test_refunds_offer_people_who_sold_here_before_they_moved():
    """The cashier has moved to another branch, and the sale that goes back stays here."""
    tebet, first = make_branch("Tebet"), Branch.objects.order_by("pk").first()
    seller = make_person("cashier", username="moved")
    elsewhere = make_person("cashier", username="elsewhere", branch=tebet)
    order = make_order("reversed", placed_by=seller)
    make_order("reversed", placed_by=elsewhere)
    User.objects.filter(pk=seller.pk).update(branch=tebet)
    browser = browser_of("supervisor", username="bound", branch=first, bound_since="2026-01-01T00:00Z")

    page = browser.get("/refunds/").content.decode()
    of_seller = browser.get(f"/refunds/?person={seller.pk}").content.decode()

    assert f'<option value="{seller.pk}"' in page
    assert f'<option value="{elsewhere.pk}"' not in page
    assert f">{order.ref_id}<" in of_seller


@pytest.mark.parametrize(("page", "field"), [("/refunds/", "person"), ("/shifts/", "cashier")])
def test_a_list_offers_people_who_moved_for_some_months(page, field):
    tebet, first = make_branch("Tebet"), Branch.objects.order_by("pk").first()
    lately, long_ago = (make_person("cashier", username=name) for name in ("lately", "long_ago"))
    for person, days in ((lately, 80), (long_ago, 100)):
        begin(person)
        at = timezone.now() - dt.timedelta(days=days)
        make_order("reversed", placed_by=person, final_at=at)
        with past_triggers() as cursor:
            cursor.execute("UPDATE drawers_shift SET opened_at = %s WHERE cashier_id = %s", [at, person.pk])
    User.objects.filter(pk__in=[lately.pk, long_ago.pk]).update(branch=tebet)
    browser = browser_of("supervisor", username="bound", branch=first, bound_since="2026-01-01T00:00Z")

    shown = browser.get(f"{page}?{field}={lately.pk}").content.decode()
    shown = re.search(rf'<select[^>]* name="{field}".*?</select>', shown, re.DOTALL)[0]  # a drawer may have its key

    assert f'<option value="{lately.pk}" selected' in shown
    assert f'<option value="{long_ago.pk}"' not in shown


def test_work_calls_no_tab_of_a_bound_person_the_shops():
    make_branch()
    owner = browser_of("admin")
    bound = signed_in(make_person("supervisor", bound_since=timezone.now()))

    tab = re.compile(r'href="/work/\?whose=shop"[^>]*>([^(]+) \(')
    of_owner, of_bound = (tab.findall(browser.get("/work/").content.decode()) for browser in (owner, bound))

    assert len(of_owner) == len(of_bound) == 1
    assert of_owner != of_bound
