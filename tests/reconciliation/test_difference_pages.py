"""The pages' words about differences, and the steps: top-ups, adjustments by two people, late refunds."""

import datetime as dt
import re

import pytest
import time_machine
from django.contrib.auth.models import Group, Permission
from django.utils import timezone, translation

from alerts.kinds.kind import Reason
from alerts.services.evaluating import keep_alerts
from ledger import services as ledger
from ledger.models import Entry
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.errors import DecisionRefused
from reconciliation.models import Adjustment, Difference, ExpectedTopUp
from testing.factories import make_order
from testing.orders import never_arrived, place
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import approve_on_page, refuse_on_page
from tests.core.helpers import hidden, words
from tests.ledger.helpers import kinds, open_books, spend, upstream_tells
from tests.reconciliation.helpers import make_difference, said_codes, steps

pytestmark = pytest.mark.django_db

OPENED = 1_000_000


def url(difference: Difference, step: str = "") -> str:
    return f"/balance/differences/{difference.pk}/{step}"


# --- top-ups ------------------------------------------------------------------------------------------------------


def test_a_top_up_is_acknowledged_with_a_note(admin):
    open_books(OPENED)
    difference = upstream_tells(OPENED + 500_000)
    assert url(difference, "acknowledge/") in steps(admin.get("/balance/"))

    page = admin.confirm(url(difference, "acknowledge/"), {"note": "BCA, by Sari"}, follow=True)

    entry = Entry.objects.get(kind="topup")
    assert (entry.amount, entry.actor.username, entry.reason) == (500_000, "admin", "BCA, by Sari")
    assert said_codes(page) == ["acknowledged"]
    assert "BCA, by Sari" in words(admin.get("/balance/differences/"))

    admin.confirm(url(difference, "acknowledge/"), {"note": "BCA, by Sari"})
    assert kinds().count("topup") == 1


def test_nothing_is_acknowledged_without_a_note(admin):
    open_books(OPENED)
    difference = upstream_tells(OPENED + 500_000)

    page = admin.confirm(url(difference, "acknowledge/"), {"note": " "})

    assert 'class="field-error"' in page.content.decode()
    assert "topup" not in kinds()


def test_an_announced_top_up_is_acknowledged_by_itself(admin):
    open_books(OPENED)
    admin.confirm("/balance/topups/", {"amount": "Rp 500.000", "note": "x"})

    difference = upstream_tells(OPENED + 500_000)

    assert (difference.state, said_codes(admin.get(url(difference)))) == ("acknowledged", ["announced"])
    assert url(difference, "acknowledge/") not in steps(admin.get("/balance/"))


def test_nothing_is_announced_without_a_second_factor(admin):
    open_books(OPENED)
    upstream_tells(OPENED + 500_000)

    admin.post("/balance/topups/", {"amount": "500.000"})

    assert not ExpectedTopUp.objects.exists()
    assert Difference.objects.get().state == "open"
    assert "topup" not in kinds()


def test_a_form_sent_twice_announces_once_and_a_new_form_again(admin):
    def form():
        return {"amount": "500.000", "note": "BCA", "seen": hidden(admin.get("/balance/"))["seen"]}

    first = form()
    admin.confirm("/balance/topups/", first)
    for send in (admin.post, admin.confirm):  # without a code, and with another one
        shown = send("/balance/topups/", first, follow=True)
        assert {message.level_tag for message in shown.context["messages"]} == {"success"}

    assert ExpectedTopUp.objects.count() == 1
    admin.confirm("/balance/topups/", form())
    assert ExpectedTopUp.objects.count() == 2


def test_a_form_on_a_page_that_shows_the_first_announcement_announces_again(admin):
    # given a page that was opened before the first one, and has read its parts again since
    fields = {"amount": "500.000", "note": ""}
    admin.confirm("/balance/topups/", {**fields, "seen": "0"})
    parts = admin.get("/balance/live/?seen=now~old,differences~old")

    admin.confirm("/balance/topups/", {**fields, "seen": hidden(parts)["seen"]})

    assert ExpectedTopUp.objects.count() == 2


def test_a_withdrawn_announcement_can_be_made_again(admin):
    fields = {"amount": "500.000", "note": "BCA", "seen": "0"}
    admin.confirm("/balance/topups/", fields)
    admin.post(f"/balance/topups/{ExpectedTopUp.objects.get().pk}/cancel/")

    admin.confirm("/balance/topups/", fields)

    assert ExpectedTopUp.objects.filter(cancelled_at=None).count() == 1


def test_a_wrong_amount_is_refused_and_what_was_typed_stays(admin):
    for typed in ("", "x", "0", "-5", "1,5", "1.50", "10.00.000", "٣٠٠", "9" * 15):
        answer = admin.confirm("/balance/topups/", {"amount": typed, "note": "my note"})

        assert not ExpectedTopUp.objects.exists(), typed
        assert 'class="field-error"' in answer.content.decode(), typed
        assert 'value="my note"' in answer.content.decode(), typed


def test_an_announcement_can_be_withdrawn_once(admin):
    admin.confirm("/balance/topups/", {"amount": "500.000"})
    expected = ExpectedTopUp.objects.get()

    for _ in range(2):
        assert admin.post(f"/balance/topups/{expected.pk}/cancel/").status_code == 302

    assert f"/balance/topups/{expected.pk}/cancel/" not in steps(admin.get("/balance/"))


def test_an_expired_announcement_can_be_withdrawn_by_another(admin):
    with time_machine.travel(timezone.now() - dt.timedelta(days=8)):
        admin.confirm("/balance/topups/", {"amount": "500.000", "note": "BCA"})
    expected = ExpectedTopUp.objects.get()
    another = browser_of("admin", username="another")
    assert f"/balance/topups/{expected.pk}/cancel/" in steps(another.get("/balance/"))

    another.post(f"/balance/topups/{expected.pk}/cancel/")

    expected.refresh_from_db()
    assert (expected.cancelled_by.username, expected.cancelled_at is None) == ("another", False)


# --- missing money: two people ------------------------------------------------------------------------------------


def missing_one_rupiah() -> Difference:
    open_books(OPENED)
    return upstream_tells(OPENED - 1)


def test_missing_money_is_said_and_an_adjustment_offered(admin):
    difference = missing_one_rupiah()

    page = admin.get("/balance/")

    assert said_codes(page) == ["unexplained", "unexplained_debit"]
    assert url(difference, "adjust/") in steps(page)


def test_one_proposes_an_adjustment_and_another_approves_it(admin):
    difference = missing_one_rupiah()
    admin.post(url(difference, "adjust/"), {"reason": "test of the bank"})
    approval = Adjustment.objects.get().approval
    assert 'data-step="decide"' not in admin.get("/balance/").content.decode()
    approve_on_page(admin, approval)
    assert "adjustment" not in kinds()

    second = browser_of("admin", username="owner")
    assert 'data-step="decide"' in second.get("/balance/").content.decode()
    approve_on_page(second, approval)

    entry = Entry.objects.get(kind="adjustment")
    assert (entry.balance_change, entry.actor.username, entry.reason) == (-1, "owner", "test of the bank")
    assert ledger.books().balance == OPENED - 1


def test_a_page_leads_to_a_proposals_approval_only_if_it_opens(admin):
    difference = missing_one_rupiah()
    admin.post(url(difference, "adjust/"), {"reason": "guess"})
    address = Adjustment.objects.get().approval.get_absolute_url()
    reader = make_person("viewer")
    reader.user_permissions.add(Permission.objects.get(codename="view_difference"))
    readers = [admin, browser_of("auditor"), signed_in(reader)]

    led = [f'href="{address}"' in browser.get(url(difference)).content.decode() for browser in readers]

    assert led == [True, True, False]
    assert [browser.get(address).status_code for browser in readers] == [200, 200, 404]


@pytest.mark.parametrize("lacks", ["", "view_cost", "view_books", "view_entry", "view_callback", "view_alert"])
def test_no_link_of_a_changed_role_leads_to_a_page_that_does_not_open(admin, lacks):
    Group.objects.get(name="administrator").permissions.remove(*Permission.objects.filter(codename=lacks))
    browser, order = browser_of("administrator"), make_order("success")
    keep_alerts("not_compared", [Reason()])
    pages = [url(missing_one_rupiah()), "/balance/differences/", "/balance/alerts/", "/balance/alerts/mine/"]
    pages += ["/health/", "/me/", order.get_absolute_url()]

    led = {
        link
        for page in pages
        for link in re.findall(r'href="(/(?:balance|orders/[^"?/]+)/[^"?#]*)', browser.get(page).content.decode())
    }

    assert any("/story/" in link for link in led) == (lacks in {"", "view_books", "view_alert"})
    assert not [link for link in led if browser.get(link).status_code == 403]


def test_a_declined_proposal_leaves_the_difference_open(admin):
    difference = missing_one_rupiah()
    admin.post(url(difference, "adjust/"), {"reason": "guess"})

    second = browser_of("admin", username="owner")
    refuse_on_page(second, Adjustment.objects.get().approval)

    assert url(difference, "adjust/") in steps(second.get(url(difference)))
    assert (Difference.objects.get().state, "adjustment" in kinds()) == ("open", False)
    adjustment = Adjustment.objects.get()
    assert adjustment.declined_by.username == "owner"
    with pytest.raises(DecisionRefused):
        reconciliation.approve_adjustment(adjustment, actor=make_person("admin", username="third"))


def test_a_proposal_without_a_reason_is_refused(admin):
    difference = missing_one_rupiah()

    page = admin.post(url(difference, "adjust/"), {"reason": "  "})

    assert 'class="field-error"' in page.content.decode()
    assert not Adjustment.objects.exists()


def test_an_auditor_sees_everything_and_may_only_compare(auditor):
    missing_one_rupiah()
    upstream_tells(OPENED + 999_999)

    page = auditor.get("/balance/")

    assert said_codes(page) == ["unexplained", "topup", "unexplained_debit"]
    assert steps(page) <= {"/balance/reconcile/", "/balance/read/"}


# --- orders behind it ---------------------------------------------------------------------------------------------


def test_the_orders_that_may_be_behind_it_are_named_with_why(auditor):
    order = spend(10_500, refunded=True, status=Status.FAILED)
    named = [{"ref_id": order.ref_id, "why": why} for why in Difference.Why.values]
    difference = make_difference(-10_500, "missing_refund", candidates=named)

    page = auditor.get(url(difference))

    assert page.content.decode().count(f'href="/orders/{order.ref_id}/"') == len(Difference.Why)
    assert all(str(why.label) in words(page) for why in Difference.Why)
    assert f"{order.product_name}, Rp10.500" in words(page)


def test_an_order_that_never_arrived_is_named_there_as_on_its_own_page(auditor):
    order = never_arrived(place())
    named = [{"ref_id": order.ref_id, "why": "outcome_unknown"}]
    less = make_difference(-4_000, candidates=named)
    exact = make_difference(-order.max_price, candidates=named)

    assert str(order.get_action_reason_display()) in words(auditor.get(url(exact)))
    assert "only if the provider charged less" not in words(auditor.get(url(exact)))
    assert "only if the provider charged less" in words(auditor.get(url(less)))


@pytest.mark.parametrize("why", ["outcome_unknown", "charged_after_all"])
def test_where_an_order_may_be_charged_that_comes_first(auditor, why):
    difference = make_difference(-10_000, candidates=[{"ref_id": "B-1", "why": why}])

    assert said_codes(auditor.get(url(difference))) == ["perhaps_charged"]


def test_every_kind_of_difference_has_its_words(auditor):
    for label in Difference.Label.values:
        amount = -10_500 if label in {"missing_refund", "unexplained_debit"} else 10_500

        assert said_codes(auditor.get(url(make_difference(amount, label)))) == [label]


def test_differences_are_narrowed_to_days_by_a_chip_and_by_old_addresses(auditor):
    difference = make_difference(10_500)
    today = timezone.localdate()

    def listed(query: str) -> bool:
        return url(difference) in auditor.get(f"/balance/differences/{query}").content.decode()

    assert [listed(query) for query in ("?days=today", "?days=yesterday")] == [True, False]
    assert [listed(query) for query in (f"?state=open&since={today}", f"?since={today}&state=acknowledged")] == [
        True,
        False,
    ]


@pytest.mark.parametrize("language", ["en", "id"])
def test_what_stands_above_the_list_has_the_words_of_its_filter(auditor, language):
    make_difference(-1_000)

    with translation.override(language):
        above = auditor.get("/balance/differences/views/", headers={"Accept-Language": language}).content.decode()
        for state in Difference.State:
            [words] = re.findall(rf'href="[^"]*state={state}"[^>]*>\s*([^<]+?)\s*<', above)
            assert words.startswith(str(state.label)), above


def test_the_list_of_open_differences_says_that_none_is_open(auditor):
    def says(query: str) -> tuple[bool, bool]:
        page = auditor.get(f"/balance/differences/?{query}").content.decode().partition('id="none-matches"')[2]
        return "No difference is open." in page, "Show all" in page

    assert [says(query) for query in ("state=open", "state=open&days=today", "state=acknowledged")] == [
        (True, False),
        (False, True),
        (False, True),
    ]


# --- refunds that come late ---------------------------------------------------------------------------------------


@pytest.fixture
def missing_refund() -> Difference:
    """A missing refund of Rp10.500, with a proposal of one "owner" to adjust the books."""
    open_books(OPENED)
    difference = make_difference(-10_500, "missing_refund")
    owner = browser_of("admin", username="owner")
    owner.post(url(difference, "adjust/"), {"reason": "it did not come"})
    return difference


def test_a_late_refund_leads_to_the_proposal_before_it(admin, missing_refund):
    late = upstream_tells(OPENED + 10_500)
    assert said_codes(admin.get(url(late))) == ["late_refund_proposed"]
    assert said_codes(admin.get(url(missing_refund))) == ["missing_refund_came"]
    assert url(late, "acknowledge/") not in steps(admin.get(url(late)))
    admin.confirm(url(late, "acknowledge/"), {"note": "it came"})
    assert Difference.objects.open().count() == 2

    refuse_on_page(admin, Adjustment.objects.get().approval)

    assert said_codes(admin.get(url(late))) == ["made_good"]
    assert kinds() == ["opening"]


def test_a_late_refund_after_its_adjustment_posts_the_opposite(admin, missing_refund):
    approve_on_page(admin, Adjustment.objects.get().approval)
    late = upstream_tells(OPENED + 10_500)
    assert said_codes(admin.get(url(late))) == ["late_refund"]

    admin.confirm(url(late, "acknowledge/"), {"note": "it has come"})

    assert kinds() == ["opening", "adjustment", "adjustment"]
    assert ledger.books().balance == OPENED
