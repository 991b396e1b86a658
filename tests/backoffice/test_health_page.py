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


def test_it_has_a_row_for_each_subject_with_plain_words(settings):
    page = signed_in(make_person("admin", language="en")).get("/health/")

    named = {"settings", "database", "redis", "upstream", "rate limit", "callbacks", "backups", "alert ways"}
    for rows in (dict(ROW.findall(page.content.decode())), verdicts(browser_of("administrator"))):
        assert named <= set(rows)
        assert "slow statements" not in rows, "what the operator alone can use"
        assert rows["versions"] == "ok"
    assert {*_ON_PAGE} == {*PLAIN}

    # the limit in use and the version are in sight
    texts = [words_at(page, f'data-subject="{subject}"') for subject in ("rate limit", "versions")]
    assert re.search(r"\d+ of \d+ requests in the last \d+ s", texts[0])
    assert settings.VERSION in texts[1]
    assert not [text for text in texts if "Technical facts" in text]


def test_the_provider_is_as_the_background_has_seen_it():
    owner = browser_of("admin")
    assert verdicts(owner)["upstream"] == "look"
    read_balance(5_000)
    assert verdicts(owner)["upstream"] == "ok"

    # a denied balance is a fault although an older one is known
    denied_balance_request("SCOPE_MISSING")
    denied = owner.get("/health/").content.decode()
    assert ("SCOPE_MISSING" in denied, dict(ROW.findall(denied))["upstream"]) == (True, "bad")
    read_balance(6_000)
    assert verdicts(owner)["upstream"] == "ok"

    account = upstream_account()
    account.unreachable_since = timezone.now() - dt.timedelta(minutes=3)
    account.save()
    assert verdicts(owner)["upstream"] == "bad"


def test_missing_settings_and_a_restore_need_a_look(settings):
    settings.ALERT_URLS, settings.BACKUP_STAMP = [], ""
    hold_restored(to=timezone.now())

    page = browser_of("admin").get("/health/").content.decode()

    rows = dict(ROW.findall(page))
    assert (rows["alert ways"], rows["backups"], rows["restored"]) == ("look", "look", "look")
    assert 'href="/balance/alerts/"' not in page, "there is nothing to test"


def test_each_alert_way_has_its_test_beside_it_and_no_secret_is_shown(settings):
    settings.ALERT_URLS = ["json://127.0.0.1:9/x", "tgram://123456789:abcdefghij-token/12345"]

    page = browser_of("admin").get("/health/").content.decode()

    assert re.findall(r'action="/balance/alerts/test/" data-way="(\w+)"', page) == [way.key for way in ways()]
    assert 'href="/balance/alerts/ways/"' in page
    assert "abcdefghij" not in page
    assert not [value for value in (settings.SECRET_KEY, settings.UPSTREAM_SECRET_KEY) if value and value in page]


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


def test_an_open_order_makes_the_books_provisional_as_on_balance():
    open_books(1_000_000)
    read_balance(1_000_000)
    reconcile()
    owners = {
        language: signed_in(make_person("admin", username=language, language=language)) for language in ("en", "id")
    }
    assert verdicts(owners["en"])["books"] == "ok"
    sent()
    read_balance(989_500)

    for language, said in {
        "en": ["Provisional", "No difference so far; 1 order is still open."],
        "id": ["Menunggu hasil", "Sejauh ini tidak ada selisih; 1 transaksi masih diproses."],
    }.items():
        row = words_at(owners[language].get("/health/"), 'data-subject="books"')
        assert [words for words in said if words not in row] == []
    assert verdicts(owners["id"])["books"] == "provisional"
    assert said_codes(owners["id"].get("/balance/")) == ["provisional"]

    # what open orders cannot explain is never called fine
    read_balance(500_000)
    assert verdicts(owners["en"])["books"] == "look"
    assert "Rp489.500" in words_at(owners["en"].get("/health/"), 'data-subject="books"')
