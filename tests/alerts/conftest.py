"""A shop without faults, unless a test says otherwise; and the ways to people."""

import pytest
from apprise.plugins.telegram import NotifyTelegram

from tests.alerts.helpers import MailServer, Receiver, Webhook, give_heartbeats


@pytest.fixture(autouse=True)
def all_is_well(settings):
    settings.POLICIES = {"alert_low_balance": 0}
    settings.LANGUAGE_CODE = "en"
    give_heartbeats()


def receiving(settings, handler, url):
    server = Receiver(handler, url)
    settings.ALERT_URLS = [*settings.ALERT_URLS, server.url]
    yield server
    server.stop()


@pytest.fixture
def webhook(settings):
    yield from receiving(settings, Webhook, "json://127.0.0.1:{port}/hooks/SECRET")


@pytest.fixture
def telegram(monkeypatch):
    """Telegram's server, on this machine; no way of alerts leads there yet."""
    server = Receiver(Webhook, "http://127.0.0.1:{port}/bot")
    monkeypatch.setattr(NotifyTelegram, "notify_url", server.url)
    yield server
    server.stop()


@pytest.fixture
def mailbox(settings):
    yield from receiving(settings, MailServer, "mailto://127.0.0.1:{port}?from=shop@example.com&to=owner@example.com")
