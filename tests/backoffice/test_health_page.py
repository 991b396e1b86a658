"""The page "Health" says what `./run doctor` says, to people who may change policies, and asks the provider nothing."""

import datetime as dt
import re

import pytest
from django.utils import timezone

from alerts.services.ways import ways
from backoffice.doctor import _ON_PAGE
from backoffice.health_words import PLAIN
from gateway.services import hold_restored, upstream_account
from reconciliation.services import reconcile
from testing.orders import sent
from testing.people import Browser, browser_of, make_person, signed_in
from tests.alerts.helpers import give_heartbeats
from tests.core.helpers import words_at
from tests.gateway.helpers import denied_balance_request, read_balance
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import said_codes

pytestmark = pytest.mark.django_db
ROW = re.compile(r'data-subject="([^"]+)" data-verdict="([^"]+)"')


def verdicts(browser: Browser) -> dict[str, str]:
    return dict(ROW.findall(browser.get("/health/").content.decode()))


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a page asked the provider")

    monkeypatch.setattr("upstream.client.Client.send", refuse)
    monkeypatch.setattr("core.health.silent_processes", list)


@pytest.mark.parametrize("person", ["admin", "administrator"])
def test_it_has_a_row_for_each_subject(person):
    rows = verdicts(browser_of(person))

    assert {"settings", "database", "redis", "upstream", "rate limit", "callbacks", "backups", "alert ways"} <= set(
        rows
    )
    assert "slow statements" not in rows, "what the operator alone can use"
    assert rows["versions"] == "ok"


def test_the_provider_is_as_the_background_has_seen_it():
    owner = browser_of("admin")
    new = verdicts(owner)["upstream"]
    read_balance(5_000)
    answers = verdicts(owner)["upstream"]
    account = upstream_account()
    account.unreachable_since = timezone.now() - dt.timedelta(minutes=3)
    account.save()

    assert (new, answers, verdicts(owner)["upstream"]) == ("look", "ok", "bad")


def test_a_denied_balance_is_a_fault_although_an_older_one_is_known():
    owner = browser_of("admin")
    read_balance(5_000)
    denied_balance_request("SCOPE_MISSING")
    denied = owner.get("/health/").content.decode()
    read_balance(6_000)

    assert ("SCOPE_MISSING" in denied, dict(ROW.findall(denied))["upstream"]) == (True, "bad")
    assert verdicts(owner)["upstream"] == "ok"


def test_alert_ways_and_backups_without_a_setting_need_a_look(settings):
    settings.ALERT_URLS, settings.BACKUP_STAMP = [], ""

    owner = browser_of("admin")

    rows = verdicts(owner)

    assert (rows["alert ways"], rows["backups"]) == ("look", "look")
    assert 'href="/balance/alerts/"' not in owner.get("/health/").content.decode(), "there is nothing to test"


def test_a_restored_shop_needs_a_look_at_the_page_backups():
    hold_restored(to=timezone.now())

    assert verdicts(browser_of("admin"))["restored"] == "look"


def test_no_secret_is_shown(settings):
    settings.ALERT_URLS = ["tgram://123456789:abcdefghij-token/12345"]

    page = browser_of("admin").get("/health/").content.decode()

    assert 'href="/balance/alerts/ways/"' in page
    assert "abcdefghij" not in page
    assert not [value for value in (settings.SECRET_KEY, settings.UPSTREAM_SECRET_KEY) if value and value in page]


def test_it_speaks_the_reader_s_language():
    english, indonesian = (
        words_at(
            signed_in(make_person("admin", username=language, language=language)).get("/health/"),
            'data-subject="backups"',
        )
        for language in ("en", "id")
    )

    assert english
    assert english != indonesian


def test_each_alert_way_has_its_test_beside_it(settings):
    settings.ALERT_URLS = ["json://127.0.0.1:9/x", "tgram://123456789:abcdefghij-token/12345"]

    page = browser_of("admin").get("/health/").content.decode()

    assert re.findall(r'action="/balance/alerts/test/" data-way="(\w+)"', page) == [way.key for way in ways()]


def test_a_line_says_what_it_means_and_folds_technical_facts(monkeypatch):
    owner = signed_in(make_person("admin", language="en"))
    give_heartbeats()
    good = owner.get("/health/")
    monkeypatch.setattr("core.health.silent_processes", lambda: ["worker"])
    bad = owner.get("/health/")

    assert "Every part of the app runs." in words_at(good, 'data-subject="processes"')
    assert "none is lost" in words_at(bad, 'data-subject="processes"')
    assert "heartbeat" not in words_at(bad, 'data-subject="processes"').partition("Technical facts")[0]
    are_good = [verdict == "ok" for verdict in verdicts(owner).values()]
    assert are_good == sorted(are_good), "what needs somebody stands on top"
    for subject, verdict in verdicts(owner).items():
        said = PLAIN[subject]
        assert str(said.good if verdict == "ok" else said.trouble) or subject == "restored"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["Provisional", "No difference so far; 1 order is still open."]),
        ("id", ["Menunggu hasil", "Sejauh ini tidak ada selisih; 1 transaksi masih diproses."]),
    ],
)
def test_an_open_order_makes_the_books_provisional_as_on_balance(language, said):
    open_books(1_000_000)
    read_balance(1_000_000)
    reconcile()
    owner = signed_in(make_person("admin", language=language))
    assert verdicts(owner)["books"] == "ok"
    sent()
    read_balance(989_500)

    row = words_at(owner.get("/health/"), 'data-subject="books"')

    assert verdicts(owner)["books"] == "provisional"
    assert [words for words in said if words not in row] == []
    assert said_codes(owner.get("/balance/")) == ["provisional"]


def test_what_open_orders_cannot_explain_is_never_called_fine():
    open_books(1_000_000)
    read_balance(1_000_000)
    reconcile()
    sent()
    read_balance(500_000)

    owner = browser_of("admin")

    assert verdicts(owner)["books"] == "look"
    assert "Rp489.500" in words_at(owner.get("/health/"), 'data-subject="books"')


def test_the_limit_in_use_and_the_version_are_in_sight(settings):
    page = signed_in(make_person("admin", language="en")).get("/health/")

    rows = [words_at(page, f'data-subject="{subject}"') for subject in ("rate limit", "versions")]

    assert re.search(r"\d+ of \d+ requests in the last \d+ s", rows[0])
    assert settings.VERSION in rows[1]
    assert not [row for row in rows if "Technical facts" in row]


def test_every_subject_has_plain_words():
    assert {*_ON_PAGE} == {*PLAIN}
