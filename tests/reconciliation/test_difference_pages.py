"""The pages' words about differences, and the steps: top-ups, adjustments by two people, late refunds."""

import datetime as dt
import re

import pytest
import time_machine
from django.contrib.auth.models import Group, Permission
from django.urls import resolve
from django.utils import timezone, translation

from alerts.kinds.kind import Reason
from alerts.services.evaluating import keep_alerts
from ledger import services as ledger
from ledger.models import Entry
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.errors import DecisionRefused
from reconciliation.models import Adjustment, Difference, ExpectedTopUp
from testing.database import undone
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
    assert 'class="field-error"' in admin.confirm(url(difference, "acknowledge/"), {"note": " "}).content.decode()
    assert "topup" not in kinds()

    page = admin.confirm(url(difference, "acknowledge/"), {"note": "BCA, by Sari"}, follow=True)

    entry = Entry.objects.get(kind="topup")
    assert (entry.amount, entry.actor.username, entry.reason) == (500_000, "admin", "BCA, by Sari")
    assert said_codes(page) == ["acknowledged"]
    assert "BCA, by Sari" in words(admin.get("/balance/differences/"))

    admin.confirm(url(difference, "acknowledge/"), {"note": "BCA, by Sari"})
    assert kinds().count("topup") == 1


def test_a_top_up_announced_with_a_second_factor_is_acknowledged_by_itself(admin):
    open_books(OPENED)
    difference = upstream_tells(OPENED + 500_000)
    admin.post("/balance/topups/", {"amount": "500.000"})
    assert not ExpectedTopUp.objects.exists()
    assert (Difference.objects.get().state, "topup" in kinds()) == ("open", False)

    admin.confirm("/balance/topups/", {"amount": "Rp 500.000", "note": "x"})

    difference.refresh_from_db()
    assert (difference.state, said_codes(admin.get(url(difference)))) == ("acknowledged", ["announced"])
    admin.confirm("/balance/topups/", {"amount": "Rp 1.000", "note": "x"})
    later = upstream_tells(OPENED + 501_000)
    assert (later.state, said_codes(admin.get(url(later)))) == ("acknowledged", ["announced"])
    assert not [step for step in steps(admin.get("/balance/")) if "acknowledge" in step]


def test_a_form_sent_twice_announces_once_and_a_new_form_again(admin):
    fields = {"amount": "500.000", "note": "BCA"}
    first = {**fields, "seen": hidden(admin.get("/balance/"))["seen"]}
    admin.confirm("/balance/topups/", first)
    for send in (admin.post, admin.confirm):  # without a code, and with another one
        shown = send("/balance/topups/", first, follow=True)
        assert {message.level_tag for message in shown.context["messages"]} == {"success"}
    assert ExpectedTopUp.objects.count() == 1

    # when: a new page, and a page that was opened before the first one and has read its parts again since
    for count, path in ((2, "/balance/"), (3, "/balance/live/?seen=now~old,differences~old")):
        admin.confirm("/balance/topups/", {**fields, "seen": hidden(admin.get(path))["seen"]})
        assert ExpectedTopUp.objects.count() == count


def test_a_wrong_amount_is_refused_and_what_was_typed_stays(admin):
    for typed in ("", "0", "10.00.000"):
        answer = admin.confirm("/balance/topups/", {"amount": typed, "note": "my note"})

        assert not ExpectedTopUp.objects.exists(), typed
        assert 'class="field-error"' in answer.content.decode(), typed
        assert 'value="my note"' in answer.content.decode(), typed


def test_an_announcement_can_be_withdrawn_once_and_made_again(admin):
    fields = {"amount": "500.000", "note": "BCA", "seen": "0"}
    admin.confirm("/balance/topups/", fields)
    expected = ExpectedTopUp.objects.get()

    for _ in range(2):
        assert admin.post(f"/balance/topups/{expected.pk}/cancel/").status_code == 302
    assert f"/balance/topups/{expected.pk}/cancel/" not in steps(admin.get("/balance/"))

    admin.confirm("/balance/topups/", fields)
    assert ExpectedTopUp.objects.filter(cancelled_at=None).count() == 1


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


def test_one_proposes_an_adjustment_and_another_approves_it(admin):
    difference = missing_one_rupiah()
    page = admin.get("/balance/")
    assert said_codes(page) == ["unexplained", "unexplained_debit"]
    assert url(difference, "adjust/") in steps(page)
    assert 'class="field-error"' in admin.post(url(difference, "adjust/"), {"reason": "  "}).content.decode()
    assert not Adjustment.objects.exists()

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


def test_no_link_of_a_changed_role_leads_to_a_page_that_does_not_open(admin):
    browser, order, role = browser_of("administrator"), make_order("success"), Group.objects.get(name="administrator")
    keep_alerts("not_compared", [Reason()])
    pages = [url(missing_one_rupiah()), "/balance/differences/", "/balance/alerts/", "/balance/alerts/mine/"]
    pages += ["/health/", "/me/", order.get_absolute_url()]
    for lacks in ("", "view_cost", "view_books", "view_entry", "view_callback", "view_alert"):
        with undone():
            role.permissions.remove(*Permission.objects.filter(codename=lacks))

            text = "".join(browser.get(page).content.decode() for page in pages)
            links = re.findall(r'href="(/(?:balance|orders/[^"?/]+)/[^"?#]*)', text)
            led = {resolve(link).view_name: link for link in links}  # a right is that of a view

            assert any("/story/" in link for link in links) == (lacks in {"", "view_books", "view_alert"}), lacks
            assert not [link for link in led.values() if browser.get(link).status_code == 403], lacks


def test_a_declined_proposal_leaves_the_difference_open(admin):
    """Before that, the difference leads to the proposal's approval if it opens for the reader."""
    difference = missing_one_rupiah()
    admin.post(url(difference, "adjust/"), {"reason": "guess"})
    adjustment = Adjustment.objects.get()
    address = adjustment.approval.get_absolute_url()
    reader = make_person("viewer")
    reader.user_permissions.add(Permission.objects.get(codename="view_difference"))
    readers = [admin, browser_of("auditor"), signed_in(reader)]
    led = [f'href="{address}"' in browser.get(url(difference)).content.decode() for browser in readers]
    assert led == [True, True, False]
    assert [browser.get(address).status_code for browser in readers] == [200, 200, 404]

    second = browser_of("admin", username="owner")
    refuse_on_page(second, adjustment.approval)

    assert url(difference, "adjust/") in steps(second.get(url(difference)))
    assert (Difference.objects.get().state, "adjustment" in kinds()) == ("open", False)
    adjustment.refresh_from_db()
    assert adjustment.declined_by.username == "owner"
    with pytest.raises(DecisionRefused):
        reconciliation.approve_adjustment(adjustment, actor=make_person("admin", username="third"))


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


def test_every_kind_of_difference_has_its_words(auditor):
    for label in Difference.Label.values:
        amount = -10_500 if label in {"missing_refund", "unexplained_debit"} else 10_500

        assert said_codes(auditor.get(url(make_difference(amount, label)))) == [label]
    for why in ("outcome_unknown", "charged_after_all"):  # an order that may be charged comes first
        difference = make_difference(-10_000, candidates=[{"ref_id": "B-1", "why": why}])

        assert said_codes(auditor.get(url(difference))) == ["perhaps_charged"], why


def test_differences_are_narrowed_to_days_by_a_chip_and_by_old_addresses(auditor):
    def says(query: str) -> tuple[bool, bool]:
        page = auditor.get(f"/balance/differences/?{query}").content.decode().partition('id="none-matches"')[2]
        return "No difference is open." in page, "Show all" in page

    assert [says(query) for query in ("state=open", "state=open&days=today", "state=acknowledged")] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    address, today = url(make_difference(10_500)), timezone.localdate()
    for query, is_listed in (
        ("?days=today", True),
        ("?days=yesterday", False),
        (f"?state=open&since={today}", True),
        (f"?since={today}&state=acknowledged", False),
    ):
        assert (address in auditor.get(f"/balance/differences/{query}").content.decode()) == is_listed, query


def test_what_stands_above_the_list_has_the_words_of_its_filter(auditor):
    make_difference(-1_000)

    for language in ("en", "id"):
        with translation.override(language):
            above = auditor.get("/balance/differences/views/", headers={"Accept-Language": language}).content.decode()
            for state in Difference.State:
                [words] = re.findall(rf'href="[^"]*state={state}"[^>]*>\s*([^<]+?)\s*<', above)
                assert words.startswith(str(state.label)), above


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
