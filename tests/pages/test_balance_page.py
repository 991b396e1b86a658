"""The balance's page: figures, state, open differences with what to do, expected top-ups, adjustments by two people."""

import html
import re

import pytest

from balance import services
from balance.models import Adjustment, Books, Difference, Entry, ExpectedTopUp, Reconciliation
from balance.services import books
from purchases.order_life import Status
from tests.factories import make_order
from tests.pages.books import kinds, open_books, spend, upstream_tells
from tests.pages.conftest import browser_of, read_balance

pytestmark = pytest.mark.django_db


def words(answer) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def tile(answer, name: str) -> str:
    part = answer.content.decode().split(f'id="{name}-title"')[1].split("</section>")[0]
    return re.search(r'class="figure[^"]*">([^<]+)<', part).group(1)


def poll_of(answer) -> tuple[str, int]:
    found = re.search(
        r'id="balance-poll" hidden hx-get="([^"]+)" hx-trigger="load delay:(\d+)s"', answer.content.decode()
    )
    return html.unescape(found.group(1)), int(found.group(2))


# --- what there is ------------------------------------------------------------------------------------------------


def test_before_anything_was_told_nothing_is_called_zero(admin):
    page = admin.get("/balance/")

    assert (tile(page, "now"), tile(page, "available"), tile(page, "reported")) == ("–", "–", "–")
    assert "The upstream has not told its balance yet." in words(page)
    assert "Rp0" not in words(page)


def test_before_the_books_are_opened_the_told_balance_counts(admin):
    read_balance(750_000)

    page = admin.get("/balance/")

    assert (tile(page, "now"), tile(page, "available")) == ("Rp750.000", "Rp750.000")
    assert "no order is refused" in words(page)


def test_available_is_the_balance_less_what_is_held(cashier):
    open_books(1_000_000)
    order = make_order(Status.QUEUED)
    services.hold(ref_id=order.ref_id, order_kind="purchase", amount=10_500)

    page = cashier.get("/balance/")

    assert (tile(page, "now"), tile(page, "available"), tile(page, "reported")) == (
        "Rp1.000.000",
        "Rp989.500",
        "Rp1.000.000",
    )
    assert "Rp10.500 are held" in words(page)


def test_agreeing_books_say_that_every_rupiah_is_explained(auditor):
    open_books()

    page = words(auditor.get("/balance/"))

    assert "Balanced" in page
    assert "Every rupiah" in page


def test_a_cashier_sees_the_figures_and_nothing_of_the_books(cashier):
    open_books(1_000_000)
    upstream_tells(999_999)

    page = words(cashier.get("/balance/"))

    assert "Rp999.999" in page
    assert not {"Unexplained", "Statement", "Announce", "Compare now"} & set(re.findall(r"[A-Z][a-z]+(?: now)?", page))


def test_on_the_first_day_there_is_no_curve_yet(auditor):
    open_books(1_000_000)

    assert "The curve begins on the second day" in words(auditor.get("/balance/"))


def test_the_button_has_the_balance_read_and_the_page_looks_for_it(cashier, monkeypatch):
    monkeypatch.setattr("balance.views_balance.services.request_balance_reading", lambda: True)
    assert poll_of(cashier.get("/balance/"))[1] == 20

    assert cashier.post("/balance/read/")["Location"] == "/balance/"

    assert poll_of(cashier.get("/balance/"))[1] == 2


def test_with_the_queue_down_the_button_says_so(cashier, monkeypatch):
    monkeypatch.setattr("balance.views_balance.services.request_balance_reading", lambda: False)

    assert "The queue cannot be reached just now" in words(cashier.post("/balance/read/", follow=True))


def test_only_what_changed_is_sent_again(admin):
    open_books(1_000_000)
    ask, _delay = poll_of(admin.get("/balance/"))
    assert 'id="balance-now"' not in admin.get(ask).content.decode()

    upstream_tells(1_500_000)

    changed = admin.get(ask).content.decode()
    assert 'id="balance-now" hx-swap-oob="true"' in changed
    assert 'id="balance-differences" hx-swap-oob="true"' in changed


def test_comparing_on_demand_says_the_result(admin):
    open_books(1_000_000)
    assert "every rupiah is explained" in words(admin.post("/balance/reconcile/", follow=True))

    read_balance(999_999)

    assert "a difference that nobody has explained" in words(admin.post("/balance/reconcile/", follow=True))
    assert Difference.objects.get().amount == -1


def test_an_order_whose_outcome_is_not_known_makes_it_provisional_and_is_named(auditor):
    open_books(1_000_000)
    order = make_order(Status.UNKNOWN)
    services.note_sent(ref_id=order.ref_id, order_kind="purchase", amount=10_500, at=order.sent_at)
    read_balance(989_500)

    page = auditor.get("/balance/")

    assert "Provisional" in words(page)
    assert "Nothing is wrong so far" in words(page)
    assert f'href="/orders/{order.ref_id}/"' in page.content.decode()
    assert "is-bad" not in page.content.decode()


def test_a_difference_that_open_orders_cannot_explain_is_never_called_nothing_wrong(admin):
    open_books(1_000_000)
    order = make_order(Status.UNKNOWN)
    services.note_sent(ref_id=order.ref_id, order_kind="purchase", amount=10_500, at=order.sent_at)
    read_balance(500_000)

    said = words(admin.post("/balance/reconcile/", follow=True))

    assert "Compared: -Rp489.500 is not explained so far" in said
    assert "-Rp489.500 is not explained so far, whatever becomes of the orders under way." in said
    assert order.ref_id in said
    assert "nothing is wrong" not in said.lower()
    assert not Difference.objects.exists()


def test_a_proven_change_of_open_amount_is_said_and_names_the_orders_it_hangs_on(admin):
    open_books(1_000_000)
    order = make_order(Status.UNKNOWN)
    row = Reconciliation.objects.get()
    stories = [[-1, [], 1, [-1]], [10_499, [[order.ref_id, "debit"]], 1, [10_499]]]
    row.state |= {"changed_at": row.state["upto"], "stories": stories}
    row.save()

    said = words(admin.post("/balance/reconcile/", follow=True))

    assert "Compared: something moved the balance beside our orders; by how much is not known yet." in said
    assert "Something moved the balance beside our orders. By how much is known when the orders named below" in said
    assert order.ref_id in said
    assert "nothing is wrong" not in said.lower()


def test_books_that_were_changed_in_the_database_itself_are_said_to_be_off(auditor):
    open_books(1_000_000)
    Books.objects.update(balance=1_123_456)

    page = words(auditor.get("/balance/"))

    assert "The books are not what the orders and differences make: +Rp123.456." in page
    assert "Every rupiah" not in page


# --- top-ups ------------------------------------------------------------------------------------------------------


def test_a_top_up_is_acknowledged_with_a_note_and_enters_the_books(admin):
    open_books(1_000_000)
    found = upstream_tells(1_500_000)
    page = admin.get("/balance/")
    assert "Acknowledge Rp500.000" in words(page)
    assert tile(page, "available") == "Rp1.500.000"

    said = admin.post(f"/balance/differences/{found.pk}/acknowledge/", {"note": "BCA, by Sari"}, follow=True)

    entry = Entry.objects.get(kind="topup")
    assert (entry.amount, entry.actor.username, entry.reason) == (500_000, "admin", "BCA, by Sari")
    assert "Acknowledged by admin" in words(said)
    assert tile(admin.get("/balance/"), "now") == "Rp1.500.000"
    assert "BCA, by Sari" in words(admin.get("/balance/differences/"))


def test_nothing_is_acknowledged_without_a_note(admin):
    open_books(1_000_000)
    found = upstream_tells(1_500_000)

    page = words(admin.post(f"/balance/differences/{found.pk}/acknowledge/", {"note": " "}))

    assert "Write first where the money is from." in page
    assert "topup" not in kinds()


def test_acknowledging_twice_posts_once_and_says_so(admin):
    open_books(1_000_000)
    found = upstream_tells(1_500_000)
    url = f"/balance/differences/{found.pk}/acknowledge/"
    admin.post(url, {"note": "BCA"})

    assert "was acknowledged before" in words(admin.post(url, {"note": "BCA"}, follow=True))
    assert kinds().count("topup") == 1


@pytest.mark.parametrize("typed", ["500000", "500.000", "Rp 500.000", "rp500.000"])
def test_an_announced_top_up_is_acknowledged_by_itself_when_just_that_arrives(admin, typed):
    open_books(1_000_000)
    assert "Rp500.000 is expected" in words(admin.post("/balance/topups/", {"amount": typed, "note": "x"}, follow=True))

    upstream_tells(1_500_000)

    assert Difference.objects.get().state == "acknowledged"
    page = words(admin.get("/balance/"))
    assert "Arrived" in page
    assert "Acknowledge Rp500.000" not in page


def test_announcing_what_has_arrived_acknowledges_it_at_once(admin):
    open_books(1_000_000)
    upstream_tells(1_500_000)

    assert "had arrived already" in words(admin.post("/balance/topups/", {"amount": "500.000"}, follow=True))
    assert Difference.objects.get().state == "acknowledged"


@pytest.mark.parametrize("typed", ["", "x", "0", "-5", "1,5", "1.50", "10.00.000", "٣٠٠", "9" * 15])
def test_an_amount_that_makes_no_sense_is_explained_and_what_was_typed_stays(admin, typed):
    answer = admin.post("/balance/topups/", {"amount": typed, "note": "my note"})

    assert not ExpectedTopUp.objects.exists()
    assert 'class="field-error"' in answer.content.decode()
    assert 'value="my note"' in answer.content.decode()


def test_an_announcement_can_be_withdrawn_once(admin):
    admin.post("/balance/topups/", {"amount": "500.000"})
    expected = ExpectedTopUp.objects.get()

    admin.post(f"/balance/topups/{expected.pk}/cancel/")
    again = admin.post(f"/balance/topups/{expected.pk}/cancel/", follow=True)

    assert "None announced." in words(admin.get("/balance/"))
    assert "was withdrawn before" in words(again)


# --- missing money: two people -------------------------------------------------------------------------------------


def missing_one_rupiah() -> Difference:
    open_books(1_000_000)
    return upstream_tells(999_999)


def test_missing_money_is_critical_and_says_what_to_do(admin):
    found = missing_one_rupiah()

    page = words(admin.get("/balance/"))

    assert found.amount == -1
    assert "Unexplained debit" in page
    assert "Rp1 left the account without an order of ours." in page
    assert "Propose to adjust by -Rp1" in page


def test_an_adjustment_is_proposed_by_one_and_approved_by_another(admin):
    found = missing_one_rupiah()
    admin.post(f"/balance/differences/{found.pk}/adjust/", {"reason": "test of the bank"})
    adjustment = Adjustment.objects.get()
    own = words(admin.get("/balance/"))
    refused = admin.post(f"/balance/adjustments/{adjustment.pk}/approve/", follow=True)
    assert "You proposed it, so you cannot approve it" in own
    assert "Approve -Rp1" not in own
    assert "a second person must" in words(refused)
    assert "adjustment" not in kinds()

    second = browser_of("admin", username="owner")
    assert "Approve -Rp1" in words(second.get("/balance/"))
    said = second.post(f"/balance/adjustments/{adjustment.pk}/approve/", follow=True)

    entry = Entry.objects.get(kind="adjustment")
    assert (entry.balance_change, entry.actor.username, entry.reason) == (-1, "owner", "test of the bank")
    assert "Approved by owner" in words(said)
    assert books().balance == 999_999


def test_a_proposal_that_is_turned_down_leaves_the_difference_open(admin):
    found = missing_one_rupiah()
    admin.post(f"/balance/differences/{found.pk}/adjust/", {"reason": "guess"})

    second = browser_of("admin", username="owner")
    said = second.post(f"/balance/adjustments/{Adjustment.objects.get().pk}/decline/", follow=True)

    assert "Turned down by owner" in words(said)
    assert "Propose to adjust" in words(said)
    assert Difference.objects.get().state == "open"


def test_a_proposal_without_a_reason_is_refused(admin):
    found = missing_one_rupiah()

    answer = admin.post(f"/balance/differences/{found.pk}/adjust/", {"reason": "  "})

    assert "Write the reason first." in words(answer)
    assert not Adjustment.objects.exists()


def test_the_orders_that_may_be_behind_it_are_named_with_links_and_why(auditor):
    order = spend(10_500, refunded=True, status=Status.FAILED)
    difference = Difference.objects.create(
        amount=-10_500,
        from_at=order.created_at,
        to_at=order.created_at,
        label="missing_refund",
        candidates=[{"ref_id": order.ref_id, "why": "missing_refund"}],
    )

    page = auditor.get(f"/balance/differences/{difference.pk}/")

    assert f'href="/orders/{order.ref_id}/"' in page.content.decode()
    assert "its price should have come back" in words(page)
    assert "Telkomsel 10.000" in words(page)


def test_an_auditor_sees_everything_and_is_offered_nothing_to_change(auditor):
    missing_one_rupiah()
    upstream_tells(1_999_999)

    page = words(auditor.get("/balance/"))

    assert "Someone who may adjust the balance has to look at it." in page
    assert "Someone who may acknowledge differences has to look at it." in page
    assert "Announce a top-up" not in page


# --- who may ------------------------------------------------------------------------------------------------------

SEEN = {
    "/balance/": {"cashier", "auditor", "admin"},
    "/balance/live/": {"cashier", "auditor", "admin"},
    "/balance/statement/": {"auditor", "admin"},
    "/balance/statement/csv/": {"auditor", "admin"},
    "/balance/statement/xlsx/": {"auditor", "admin"},
    "/balance/differences/": {"auditor", "admin"},
    "/balance/runs/": {"auditor", "admin"},
    "/balance/alerts/": {"auditor", "admin"},
}


@pytest.mark.parametrize("page", SEEN)
@pytest.mark.parametrize("role", ["", "cashier", "auditor", "admin"])
def test_each_role_sees_its_pages_and_no_others(role, page):
    assert browser_of(role).get(page).status_code == (200 if role in SEEN[page] else 403)


@pytest.mark.parametrize(
    "url",
    [
        "/balance/topups/",
        "/balance/topups/1/cancel/",
        "/balance/differences/1/acknowledge/",
        "/balance/differences/1/adjust/",
        "/balance/adjustments/1/approve/",
        "/balance/adjustments/1/decline/",
    ],
)
def test_what_moves_the_books_is_for_admins_and_never_done_by_a_link(cashier, auditor, admin, url):
    assert cashier.post(url).status_code == 403
    assert auditor.post(url).status_code == 403
    assert admin.get(url).status_code == 405


def test_comparing_is_not_for_cashiers(cashier, auditor):
    assert cashier.post("/balance/reconcile/").status_code == 403
    assert auditor.post("/balance/reconcile/").status_code == 302


@pytest.mark.parametrize("page", ["/balance/differences/999/", "/balance/runs/999/"])
def test_what_is_not_there_is_a_404(admin, page):
    assert admin.get(page).status_code == 404


def test_a_run_shows_its_figures_and_what_it_waited_for(auditor):
    open_books(1_000_000)
    order = make_order(Status.UNKNOWN)
    services.note_sent(ref_id=order.ref_id, order_kind="purchase", amount=10_500, at=order.sent_at)
    read_balance(989_500)
    run = services.reconcile()

    listed, shown = auditor.get("/balance/runs/"), auditor.get(f"/balance/runs/{run.pk}/")

    assert "waits for 1 order" in words(listed)
    assert order.ref_id in words(shown)
    assert "Rp989.500" in words(shown)
    assert "No comparison matches" in words(auditor.get("/balance/runs/?state=unexplained"))
    assert "Provisional" in words(auditor.get("/balance/runs/?state=provisional"))


def test_the_overview_leads_from_the_balance_to_its_page(cashier, auditor):
    open_books(1_000_000)

    assert 'href="/balance/"' in cashier.get("/").content.decode().split('id="balance-title"')[1].split("</section>")[0]
    assert "Balanced" in words(auditor.get("/"))
    assert "Balanced" not in words(cashier.get("/"))
