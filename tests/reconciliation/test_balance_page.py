"""The balance's page: its figures, the state of the books, and the parts that are sent again after a change."""

import re
from unittest import mock

import pytest
import time_machine
from celery import current_app
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.utils import timezone
from django.utils.translation import gettext

from core.times import clock
from gateway.services import latest_reading
from ledger.models import Books, Proof
from purchases.services import Decision, apply_verdict
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.services.reconciling import latest_run
from reconciliation.tasks import read_for_person
from staff.models import User
from testing.factories import make_order
from testing.orders import STAFF, never_arrived, sent
from tests.core.helpers import has_id, next_question, words, words_at
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books, post, upstream_tells
from tests.reconciliation.helpers import make_difference, said_codes, spend_in_dashboard, steps
from upstream.errors import Unavailable

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("costs_shown")]


def figures(answer) -> tuple[str, ...]:
    """The balance now, the available part, and the upstream's report."""
    page = answer.content.decode()
    parts = [page.split(f'id="{name}-title"')[1].split("</section>")[0] for name in ("now", "available", "reported")]
    return tuple(re.search(r'class="figure[^"]*">([^<]+)<', part).group(1).strip() for part in parts)


@pytest.fixture
def queue_away(monkeypatch):
    """Let nothing reach the workers."""
    monkeypatch.setattr("reconciliation.views.balance.publish", lambda _task: False)


# --- figures ------------------------------------------------------------------------------------------------------


def test_before_the_books_are_open_only_a_reported_balance_counts(admin):
    unknown = admin.get("/balance/")
    read_balance(750_000)
    reported = admin.get("/balance/")

    assert figures(unknown) == ("–", "–", "–")
    assert said_codes(unknown) == ["no_reading"]
    assert "Rp0" not in words(unknown)
    assert figures(reported) == ("Rp750.000", "Rp750.000", "Rp750.000")
    assert said_codes(reported) == ["not_open"]


def test_available_is_the_balance_less_what_is_reserved(cashier, admin):
    open_books(1_000_000)
    order = make_order(Status.QUEUED)
    post("hold", order.ref_id, 10_500)

    page = cashier.get("/balance/")

    assert figures(page) == ("Rp1.000.000", "Rp989.500", "Rp1.000.000")
    assert "Rp10.500" in words(page)
    # then: books that agree say what was not charged
    page = admin.get("/balance/")
    assert said_codes(page)[0] == "balanced"
    assert "Rp10.500" in words_at(page, 'data-said="balanced"')


def test_the_verdict_stands_first_and_a_cashier_sees_figures_only(cashier, admin):
    User.objects.update(language="en")
    open_books(1_000_000)
    good = admin.get("/balance/")
    upstream_tells(999_000)
    bad = admin.get("/balance/")
    of_cashier = cashier.get("/balance/")

    assert words_at(good, 'data-said="balanced"').strip().startswith("It adds up: ")
    assert words_at(bad, 'data-said="unexplained"').strip().startswith("It differs by −Rp1.000: ")
    for page in (good, bad):
        html = page.content.decode()
        assert html.index("data-said=") < html.index('id="now-title"')
    assert figures(of_cashier)[0] == figures(bad)[0] == figures(of_cashier)[2] == "Rp999.000"
    assert str(gettext("What the provider should hold, by our books")) not in words(of_cashier)
    assert (said_codes(of_cashier), steps(of_cashier)) == ([], {"/balance/read/"})


# --- how the books stand ------------------------------------------------------------------------------------------


def test_an_open_order_makes_it_provisional_and_is_named(auditor):
    open_books(1_000_000)
    order = sent()
    read_balance(989_500)

    page = auditor.get("/balance/")
    run = reconciliation.reconcile()
    of_run = words(auditor.get(f"/balance/runs/{run.pk}/"))

    assert said_codes(page) == ["provisional"]
    assert f'href="/orders/{order.ref_id}/"' in page.content.decode()
    assert has_id(page, "counted-as-charged")
    assert order.ref_id in of_run
    assert "Rp989.500" in of_run
    assert has_id(auditor.get("/balance/runs/?state=unexplained"), "none-matches")
    assert f"/balance/runs/{run.pk}/" in auditor.get("/balance/runs/?state=provisional").content.decode()


@pytest.mark.usefixtures("queue_away")
@pytest.mark.parametrize(
    ("missing", "codes", "amounts"),
    [
        (2_345, ["sign_not_known"], ["−Rp2.345", "+Rp8.155"]),
        (12_345, ["at_least"], ["−Rp12.345", "−Rp1.845"]),
    ],
    ids=["less than the order costs", "more than the order costs"],
)
def test_an_amount_is_said_with_a_sign_only_where_it_is_known(admin, capsys, missing, codes, amounts):
    """An unknown order of Rp10.500 and missing money: if the order was charged, there is too much instead."""
    open_books(1_000_000)
    order = sent()
    read_balance(1_000_000)
    assert said_codes(admin.get("/balance/")) == ["provisional"]

    read_balance(1_000_000 - missing)
    page = admin.post("/balance/reconcile/", follow=True)

    assert said_codes(page) == codes
    assert order.ref_id in words(page)
    state = page.content.decode().split('id="state-title"')[1].split("</section>")[0]
    assert re.findall(r"[−+]Rp[\d.]*\d", state.split("<dl")[1]) == amounts
    run = ReconciliationRun.objects.latest("pk")
    has_sign = missing > 10_500
    assert ("Rp1.845" in words_at(page, 'data-said="at_least"')) == has_sign
    assert (run.state, run.difference) == ("provisional", -1_845 if has_sign else None)
    of_run = admin.get(f"/balance/runs/{run.pk}/")
    assert has_id(of_run, "sign-not-known") == (not has_sign)
    least = str(gettext("at least %(amount)s")) % {"amount": "−Rp1.845"}
    assert (least in words(of_run)) == (least in words(admin.get("/balance/runs/"))) == has_sign
    call_command("balance")
    assert re.findall(r"^(?:between|difference) +(\S.*)$", capsys.readouterr().out, re.MULTILINE) == (
        ["−Rp1.845" if has_sign else "–", " … ".join(amounts)]
    )
    assert not Difference.objects.exists()


def test_changed_rows_are_said_with_their_amount(auditor):
    open_books(1_000_000)
    Books.objects.update(balance=1_123_456)
    reconciliation.reconcile()

    page = auditor.get("/balance/")

    assert said_codes(page) == ["flaw"]
    assert "Rp123.456" in words(page)


def test_reconciling_reads_the_balance_first(admin, shop, monkeypatch):
    published: list[str] = []
    monkeypatch.setattr("reconciliation.views.balance.publish", lambda task: published.append(task) or True)
    spend_in_dashboard(shop, -12_345)

    waiting = admin.post("/balance/reconcile/", follow=True)

    # then: until the reading has come, the page names the time of the last one
    assert clock(latest_reading().answered_at) in words_at(waiting, 'id="not-read-since"')
    for task in published:
        current_app.tasks[task]()
    page = admin.get("/balance/")
    assert not has_id(page, "not-read-since")
    assert said_codes(page)[0] == "unexplained"
    assert Difference.objects.get().amount == -12_345
    assert latest_run().trigger == ReconciliationRun.Trigger.PERSON


def test_without_an_answer_the_page_goes_on_saying_as_of_when_it_is(admin, monkeypatch):
    open_books(1_000_000)
    monkeypatch.setattr("reconciliation.views.balance.publish", lambda _task: True)
    admin.post("/balance/reconcile/")

    with mock.patch("gateway.services.read_balance", side_effect=Unavailable("connect")):
        read_for_person()

    assert has_id(admin.get("/balance/"), "not-read-since")


def test_with_the_queue_down_the_last_balance_is_compared_and_dated(admin, cashier, queue_away):
    open_books(1_000_000)
    assert said_codes(admin.post("/balance/reconcile/", follow=True)) == ["balanced"]
    assert next_question(cashier.post("/balance/read/", follow=True))[1] == 20  # nothing is looked for

    read_balance(999_999)

    page = admin.post("/balance/reconcile/", follow=True)
    assert said_codes(page)[0] == "unexplained"
    assert gettext("As of %(time)s, not read since.") % {"time": clock(latest_reading().answered_at)} in words(page)
    assert Difference.objects.get().amount == -1


# --- keeping fresh ------------------------------------------------------------------------------------------------


def test_the_button_has_the_balance_read_and_looks_for_it(cashier, monkeypatch):
    monkeypatch.setattr("reconciliation.views.balance.publish", lambda _task: True)
    assert next_question(cashier.get("/balance/"))[1] == 20

    assert cashier.post("/balance/read/")["Location"] == "/balance/"

    assert next_question(cashier.get("/balance/"))[1] == 2


def propose(admin, amount=-1):
    reconciliation.propose_adjustment(Difference.objects.get(amount=amount), actor=admin, reason="fee")


CHANGES = [
    (lambda _admin: read_balance(999_999), {"balance-now"}),
    (lambda _admin: upstream_tells(1_500_000), {"balance-now", "balance-differences"}),
    (lambda _admin: sent(), {"balance-now"}),
    (propose, {"balance-differences"}),
    (lambda admin: reconciliation.announce_top_up(amount=5, actor=admin, note=""), {"balance-differences"}),
    (lambda _admin: Proof.objects.update(flaw="running", flaw_amount=7), {"balance-now"}),
]


def test_given_a_change_then_just_its_part_is_sent(admin):
    person = User.objects.get(username="admin")
    with time_machine.travel(timezone.now().replace(second=5)):  # the page changes each minute
        open_books(1_000_000)
        upstream_tells(999_999)
        for number, (change, parts) in enumerate(CHANGES):
            ask, _delay = next_question(admin.get("/balance/"))
            unchanged = admin.get(ask).content.decode()
            change(person)
            changed = admin.get(ask).content.decode()
            for part in ("balance-now", "balance-differences"):
                sent_part = f'id="{part}" hx-swap-oob="true"'
                assert (sent_part in unchanged, sent_part in changed) == (False, part in parts), (number, part)


def test_when_an_order_that_a_difference_names_moves_it_is_sent_again(admin):
    with time_machine.travel(timezone.now().replace(second=5)):
        open_books(1_000_000)
        order = never_arrived(sent())
        make_difference(-10_500, candidates=[{"ref_id": order.ref_id, "why": "outcome_unknown"}])
        ask, _delay = next_question(admin.get("/balance/"))
        assert not has_id(admin.get(ask), "balance-differences")
        apply_verdict(order.pk, Decision(status=Status.CLOSED, source=STAFF))
        answer = admin.get(ask)

    assert has_id(answer, "balance-differences")


def test_who_may_see_no_differences_any_more_is_sent_none(auditor):
    with time_machine.travel(timezone.now().replace(second=5)):
        open_books(1_000_000)
        upstream_tells(999_999)
        ask, _delay = next_question(auditor.get("/balance/"))
        User.objects.get(username="auditor").groups.set(Group.objects.filter(name="cashier"))
        answer = auditor.get(ask)

    assert has_id(answer, "balance-differences")
    assert "difference-panel" not in answer.content.decode()


# --- comparisons --------------------------------------------------------------------------------------------------


def test_what_is_not_there_is_a_404(admin):
    for page in ["/balance/differences/999/", "/balance/runs/999/"]:
        assert admin.get(page).status_code == 404, page


def test_differences_that_outweigh_each_other_do_not_add_up(admin):
    open_books(1_000_000)
    upstream_tells(999_000)
    upstream_tells(1_000_000)

    page = admin.get("/balance/")

    assert Difference.objects.open().count() == 2
    assert said_codes(page)[0] == "outweighed"


def test_the_overview_leads_to_the_balance_and_this_to_comparisons(admin, auditor):
    open_books(1_000_000)

    assert 'href="/balance/"' in admin.get("/").content.decode().split('id="balance-title"')[1].split("</section>")[0]
    assert "status-good" in auditor.get("/").content.decode().split('id="balance-title"')[1].split("</section>")[0]
    page = auditor.get("/balance/")
    assert '<svg class="chart' not in page.content.decode()  # on the first day
    assert has_id(page, "every-comparison")
    assert has_id(auditor.get("/balance/differences/"), "every-comparison")
    tabs = {tab.name: tab.is_here for tab in auditor.get("/balance/runs/").context["page_section"].tabs}
    assert tabs["difference_list"]
    assert "run_list" not in tabs
