"""A message reaches a real server on this machine, or the page says that it failed or had no answer in time."""

from email import message_from_bytes, policy
from threading import Barrier

import pytest
from apprise import NotifyType

from alerts.services import ways as module
from alerts.services.ways import MOST_WAYS, Fault, Way, send_to_all, way_to, ways
from alerts.tasks import send_checkpoint
from testing.people import browser_of

pytestmark = pytest.mark.django_db
TELEGRAM = "tgram://123456789:SECRETabcdefghijklmnopqrstuvwxyzABC/-42/"


def send(text: str = "There is <little> left & more", look: NotifyType = NotifyType.WARNING) -> Fault | None:
    (way,) = ways()
    return way.send("[Toko Kita] Low", text, look=look)


def test_a_webhook_gets_title_text_and_look_and_its_no_is_not_followed(webhook):
    assert send() is None

    (taken,) = webhook.taken
    assert (taken["title"], taken["message"], taken["type"]) == (
        "[Toko Kita] Low",
        "There is <little> left & more",
        "warning",
    )
    for webhook.answer in (500, 401, 302):
        webhook.taken.clear()
        assert send() == Fault.FAILED
        assert len(webhook.taken) == 1, webhook.answer


def test_a_mailbox_gets_a_plain_text_mail_or_has_failed(mailbox):
    assert send("Saldo … Rp100.000\n\nBuka ‼") is None

    mail = message_from_bytes(mailbox.taken[0], policy=policy.default)
    assert (mail["To"], mail["Subject"], mail.get_content_type()) == (
        "owner@example.com",
        "[Toko Kita] Low",
        "text/plain",
    )
    assert mail.get_content().split() == ["Saldo", "…", "Rp100.000", "Buka", "‼"]
    mailbox.answer = 550  # it refuses the recipient
    assert send() == Fault.FAILED
    assert len(mailbox.taken) == 1


def test_a_server_that_is_not_there_has_failed(settings):
    for address in ("json://127.0.0.1:9/x", "mailto://127.0.0.1:9?from=a@b.id&to=c@d.id"):
        settings.ALERT_URLS = [address]

        assert send() == Fault.FAILED, address


@pytest.mark.parametrize("kind", ["webhook", "mailbox"])
def test_a_server_that_never_answers_may_have_taken_it(request, monkeypatch, kind):
    monkeypatch.setattr(module, "DEADLINE_SECONDS", 1.0)  # a busy machine takes half a second to hand a mail over
    server = request.getfixturevalue(kind)
    server.is_silent = True

    assert send() == Fault.NO_ANSWER
    assert len(server.taken) == 1


def test_a_long_message_is_cut_to_what_the_service_takes():
    way = way_to(TELEGRAM)

    assert len(way.service._apply_overflow("x" * 9_000, title="y")) == 1


def test_an_address_that_reaches_nobody_is_not_understood(settings):
    for address in ("", "foo", "foo://x", "tgram://x", "mailto://mail.example.com?from=a@b.id&to=nobody"):
        assert way_to(address) is None, address
        settings.ALERT_URLS = [address, TELEGRAM]
        assert [way.name for way in ways()] == ["Telegram"], address


def test_a_way_is_known_by_its_address_without_showing_it(settings):
    first, again, other = way_to(TELEGRAM), way_to(TELEGRAM), way_to(TELEGRAM.replace("-42", "-43"))

    assert first.key == again.key != other.key
    assert "SECRET" not in repr((first.key, first.name))


ANSWERS = [
    (401, "Access was refused (401). Check the token or the password."),
    (400, "The receiver was refused (400). Check the chat, channel or mailbox."),
    (404, "Nothing is at this address (404). Check the token or the address, letter by letter."),
    (302, "The address leads elsewhere (302). Add this way again with the final address."),
    (503, "The service cannot take messages now (503). Try again in a few minutes."),
    (418, "The message was refused (418). Check this way."),
]


def test_a_test_that_fails_says_why_without_the_address(webhook):
    admin = browser_of("admin")
    for webhook.answer, words in ANSWERS:
        assert said(admin) == [f"JSON: {words}"]

    webhook.answer, indonesian = 401, browser_of("admin", username="second", language="id")
    assert said(indonesian) == ["JSON: Akses ditolak (401). Periksa token atau kata sandinya."]


def test_a_mailbox_that_refuses_and_a_server_that_is_away_say_why(settings, mailbox):
    mailbox.answer = 550
    settings.ALERT_URLS = [*settings.ALERT_URLS, "json://127.0.0.1:9/hooks/SECRET", "mailto://127.0.0.1:9?from=a@b.id"]
    away = "No connection to the server. Check its name and port, and whether this machine reaches the Internet."

    assert said(browser_of("admin")) == [
        "E-Mail: The receiver was refused (550). Check the chat, channel or mailbox.",
        f"JSON: {away}",
        f"E-Mail: {away}",
    ]


def test_a_test_without_an_answer_says_to_look_first(webhook, monkeypatch):
    monkeypatch.setattr(module, "DEADLINE_SECONDS", 1.0)
    webhook.is_silent = True

    assert said(browser_of("admin")) == [
        "JSON: No answer in time. Look whether the message arrived before you try again."
    ]


def said(browser) -> list[str]:
    """The page's words about a test of every way."""
    page = browser.post("/balance/alerts/test/", follow=True)

    assert "SECRET" not in page.content.decode()
    return [str(message) for message in page.context["messages"]]


def test_a_test_says_of_each_way_whether_it_works(settings, webhook):
    settings.ALERT_URLS = [*settings.ALERT_URLS, "json://127.0.0.1:9/x"]
    admin = browser_of("admin")

    def outcomes(**fields) -> list[str]:
        page = admin.post("/balance/alerts/test/", fields, follow=True)
        return [message.extra_tags for message in page.context["messages"]]

    assert outcomes() == ["way_works", "way_fails"]
    assert [message["title"] for message in webhook.taken] == ["[Toko Kita] Test"]
    assert outcomes(way="gone") == ["way_gone"]
    assert len(webhook.taken) == 1

    # a test of one way leads back to where it was asked for
    first, _other = ways()
    for asked_at, back in [("/health/", "/health/"), ("https://elsewhere.example/", "/balance/alerts/ways/")]:
        answer = admin.post("/balance/alerts/test/", {"way": first.key, "back": asked_at})
        assert answer["Location"] == back
    assert len(webhook.taken) == 3

    auditor = browser_of("auditor")
    assert auditor.post("/balance/alerts/test/").status_code == 403
    assert "/balance/alerts/test/" not in auditor.get("/balance/alerts/").content.decode()
    assert len(webhook.taken) == 3


def test_given_many_ways_then_all_are_used_at_once(monkeypatch):
    used = [way_to(TELEGRAM.replace("-42", f"-{number}")) for number in range(1, MOST_WAYS + 2)]
    all_at_once = Barrier(len(used), timeout=5)
    monkeypatch.setattr(Way, "send", lambda *_args, **_look: all_at_once.wait() and None)

    assert len(send_to_all("Test", "Hello", on=used)) == len(used)


def test_a_checkpoint_of_the_audit_goes_to_its_own_addresses_only(settings, webhook):
    send_checkpoint("shop\n12\nROOT")
    assert webhook.taken == [], "nobody asked for it among the alerts"

    settings.AUDIT_CHECKPOINT_URLS, settings.ALERT_URLS = settings.ALERT_URLS, []
    send_checkpoint("shop\n12\nROOT")

    assert [message["message"] for message in webhook.taken] == ["shop\n12\nROOT"]
