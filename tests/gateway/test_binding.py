"""From the first balance or order on, a database belongs to one account at the upstream."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from backoffice.management.commands import prepare_app
from gateway import services as gateway
from gateway.models import UpstreamAccount
from purchases.states import Status
from testing.factories import make_order
from tests.ledger.helpers import open_books
from upstream.errors import Misconfigured

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def prepared(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Prepare this database for the sandbox, or for the real account of that Secret ID."""
    # Migrations, cache table and translations are there already.
    monkeypatch.setattr(prepare_app, "call_command", lambda *_, **__: None)

    def prepare(secret_id: str | None = None) -> None:
        settings.SANDBOX = secret_id is None
        if secret_id is not None:
            settings.UPSTREAM_BASE_URL, settings.UPSTREAM_SECRET_ID = "https://upstream.example.com", secret_id
        call_command("prepare_app", stdout=StringIO())

    return prepare


def test_a_demo_that_was_never_answered_becomes_the_real_shop_and_one_with_a_balance_is_refused(
    prepared: Callable[..., None],
):
    prepared()
    demo = UpstreamAccount.objects.get().fingerprint
    prepared("shop")
    assert UpstreamAccount.objects.get().fingerprint != demo

    prepared()
    open_books(10_000_000)
    with pytest.raises(CommandError, match=r"\./run reset.*BACKOFFICE_DATA.*DATABASE_URL"):
        prepared("shop")
    prepared()


def test_a_shop_with_orders_is_refused_without_naming_reset(
    prepared: Callable[..., None],
):
    prepared("shop")
    make_order(Status.PENDING)

    for another in ("another", None):
        with pytest.raises(CommandError, match="restore the former UPSTREAM_BASE_URL") as refusal:
            prepared(another)
        assert "reset" not in str(refusal.value)

    prepared("shop")


def test_nothing_is_sent_to_an_account_of_other_settings(prepared: Callable[..., None]):
    """A command may run with other settings than the last `./run`."""
    prepared()
    assert not gateway.sending_is_stopped()

    settings_of_a_shop = override_settings(SANDBOX=False, UPSTREAM_SECRET_ID="shop")
    with settings_of_a_shop:
        assert gateway.sending_is_stopped()
        with pytest.raises(Misconfigured, match="another upstream account"):
            gateway.read_balance()

    assert not gateway.sending_is_stopped()
