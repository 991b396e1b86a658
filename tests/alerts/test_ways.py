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


def test_a_webhook_gets_title_text_and_look(webhook):
    assert send() is None

    (taken,) = webhook.taken
    assert (taken["title"], taken["message"], taken["type"]) == (
        "[Toko Kita] Low",
        "There is <little> left & more",
        "warning",
    )


def test_a_mailbox_gets_a_plain_text_mail(mailbox):
    assert send("Saldo … Rp100.000\n\nBuka ‼") is None

    mail = message_from_bytes(mailbox.taken[0], policy=policy.default)
    assert (mail["To"], mail["Subject"], mail.get_content_type()) == (
        "owner@example.com",
        "[Toko Kita] Low",
        "text/plain",
    )
    assert mail.get_content().split() == ["Saldo", "…", "Rp100.000", "Buka", "‼"]


@pytest.mark.parametrize("answer", [500, 401, 302])
def test_a_webhook_that_says_no_has_failed_and_is_not_followed(webhook, answer):
    webhook.answer = answer

    assert send() == Fault.FAILED
    assert len(webhook.taken) == 1


def test_a_mail_server_that_refuses_the_recipient_has_failed(mailbox):
    mailbox.answer = 550

    assert send() == Fault.FAILED
    assert mailbox.taken == []


@pytest.mark.parametrize("scheme", ["json://127.0.0.1:9/x", "mailto://127.0.0.1:9?from=a@b.id&to=c@d.id"])
def test_a_server_that_is_not_there_has_failed(settings, scheme):
    settings.ALERT_URLS = [scheme]

    assert send() == Fault.FAILED


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


@pytest.mark.parametrize(
    "address", ["", "foo", "foo://x", "tgram://x", "mailto://mail.example.com?from=a@b.id&to=nobody"]
)
def test_an_address_that_reaches_nobody_is_not_understood(settings, address):
    assert way_to(address) is None
    settings.ALERT_URLS = [address, TELEGRAM]
    assert [way.name for way in ways()] == ["Telegram"]


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


@pytest.mark.parametrize(("answer", "words"), ANSWERS)
def test_a_test_that_fails_says_why_without_the_address(webhook, answer, words):
    webhook.answer = answer

    assert said(browser_of("admin")) == [f"JSON: {words}"]


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


def test_the_reason_is_in_the_language_of_the_page(webhook):
    webhook.answer = 401

    assert said(browser_of("admin", language="id")) == ["JSON: Akses ditolak (401). Periksa token atau kata sandinya."]


def said(browser) -> list[str]:
    """The page's words about a test of every way."""
    page = browser.post("/balance/alerts/test/", follow=True)

    assert "SECRET" not in page.content.decode()
    return [str(message) for message in page.context["messages"]]


def test_a_test_says_of_each_way_whether_it_works(settings, webhook):
    settings.ALERT_URLS = [*settings.ALERT_URLS, "json://127.0.0.1:9/x"]

    page = browser_of("admin").post("/balance/alerts/test/", follow=True)

    assert [message.extra_tags for message in page.context["messages"]] == ["way_works", "way_fails"]
    assert [message["title"] for message in webhook.taken] == ["[Toko Kita] Test"]


def test_given_many_ways_then_all_are_used_at_once(monkeypatch):
    used = [way_to(TELEGRAM.replace("-42", f"-{number}")) for number in range(1, MOST_WAYS + 2)]
    all_at_once = Barrier(len(used), timeout=5)
    monkeypatch.setattr(Way, "send", lambda *_args, **_look: all_at_once.wait() and None)

    assert len(send_to_all("Test", "Hello", on=used)) == len(used)


def test_nobody_without_the_right_sends_a_test(webhook):
    assert browser_of("auditor").post("/balance/alerts/test/").status_code == 403
    assert (
        "/balance/alerts/test/" not in browser_of("auditor", username="second").get("/balance/alerts/").content.decode()
    )
    assert webhook.taken == []


def test_a_checkpoint_of_the_audit_goes_to_its_own_addresses_only(settings, webhook):
    send_checkpoint("shop\n12\nROOT")
    assert webhook.taken == [], "nobody asked for it among the alerts"

    settings.AUDIT_CHECKPOINT_URLS, settings.ALERT_URLS = settings.ALERT_URLS, []
    send_checkpoint("shop\n12\nROOT")

    assert [message["message"] for message in webhook.taken] == ["shop\n12\nROOT"]


def test_a_test_goes_to_one_way_and_leads_back_to_where_it_was_asked_for(settings, webhook):
    settings.ALERT_URLS = [*settings.ALERT_URLS, "json://127.0.0.1:9/x"]
    first, _other = ways()

    answer = browser_of("admin").post("/balance/alerts/test/", {"way": first.key, "back": "/health/"})
    astray = browser_of("admin", username="second").post(
        "/balance/alerts/test/", {"way": first.key, "back": "https://elsewhere.example/"}
    )

    assert answer["Location"] == "/health/"
    assert astray["Location"] == "/balance/alerts/ways/"
    assert len(webhook.taken) == 2


def test_a_way_that_is_gone_gets_no_test(webhook):
    page = browser_of("admin").post("/balance/alerts/test/", {"way": "gone"}, follow=True)

    assert [message.extra_tags for message in page.context["messages"]] == ["way_gone"]
    assert webhook.taken == []
