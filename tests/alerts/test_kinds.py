"""Each kind of alert is complete: one file has its readers, its condition, its words and the next step."""

import pkgutil

import pytest
from django.contrib.auth.models import Permission
from django.urls import resolve
from django.utils import translation

from alerts import kinds
from alerts.kinds import KINDS
from alerts.kinds.kind import AlertKind
from purchases.services.actions import Action, allowed_actions
from purchases.states import POLLED, Status
from testing.factories import make_order
from testing.people import make_person
from tests.alerts.helpers import MISSING, unknown

pytestmark = pytest.mark.django_db

SINCE = "2026-08-20T01:00:00+00:00"


def test_every_file_of_the_folder_is_a_kind():
    files = {file.name for file in pkgutil.iter_modules(kinds.__path__)} - {"kind"}

    assert files == set(KINDS)


def test_a_kind_that_lacks_a_part_is_an_error_at_once():
    for missing in ("permission", "reasons", "words"):
        parts = {"reasons": lambda *_: [], "words": lambda *_: None, "__module__": "x"}
        permission = {} if missing == "permission" else {"permission": "purchases.view_order"}
        parts.pop(missing, None)

        with pytest.raises(TypeError, match=missing):
            type("Kind", (AlertKind,), parts, **permission)()


def test_a_kind_has_readers_and_words_also_with_facts_of_an_older_version():
    for kind in KINDS.values():
        app_label, codename = kind.permission.split(".")
        assert Permission.objects.filter(content_type__app_label=app_label, codename=codename).exists(), kind

        for language in ("en", "id"):
            with translation.override(language):
                words = kind.words({}, None)

            assert words.title, kind
            assert words.next_step, kind
            assert not words.url or resolve(words.url), kind


def test_a_moment_is_in_the_shops_time_and_the_persons_language():
    with translation.override("id"):
        title = KINDS["not_compared"].words({"since": SINCE}, None).title

    assert "20 Agu 2026 08.00" in title


def test_who_cannot_settle_it_is_not_asked_to():
    facts, auditor, admin = (
        {"difference": 7, "amount": -1, "available": 1},
        make_person("auditor"),
        make_person("admin"),
    )
    for code in ("low_balance", "difference"):
        assert KINDS[code].words(facts, auditor).next_step != KINDS[code].words(facts, admin).next_step
        assert KINDS[code].words(facts, None).next_step == KINDS[code].words(facts, admin).next_step


def test_an_alert_names_amount_and_orders_and_links_to_its_page():
    for code, facts, title, text, url in [
        ("order_unknown", unknown(1).facts, "B-1", "Rp10.500", "/orders/B-1/"),
        ("difference", MISSING.facts | {"ref_ids": ["B-1", "B-2"]}, "Rp1", "B-1, B-2", "/balance/differences/7/"),
    ]:
        words = KINDS[code].words(facts, None)

        assert title in words.title
        assert text in words.facts
        assert words.url == url


def test_the_step_for_an_order_is_what_is_allowed_then():
    """Each step belongs to one set of allowed actions, and each set to one step."""
    steps, allowed = {}, {}
    for role in ("cashier", "auditor", "admin"):
        person = make_person(role)
        for status in (Status.QUEUED, *POLLED - {Status.PENDING}, Status.NEEDS_ACTION):
            order = make_order(status, sent_no=1)
            step = KINDS["order_unknown"].words({"ref_id": "x", "status": status}, person).next_step
            now = allowed_actions(order, person)
            decides = bool(now & {Action.SEND_AGAIN, Action.CLOSE})
            case = (status == Status.NEEDS_ACTION, decides or (Action.POLL in now and status != Status.NEEDS_ACTION))
            steps.setdefault(case, set()).add(step)
            allowed.setdefault(step, set()).add(case)

    assert {len(matches) for matches in (*steps.values(), *allowed.values())} == {1}
    assert len(steps) == 4
