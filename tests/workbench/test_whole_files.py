"""Files have masked numbers; whole numbers need the right and a fresh second factor for exactly this file."""

import json
from typing import Any

import pytest

from approvals.events import APPROVAL_ASKED
from audit.models import AuditEvent
from audit.services import record
from exports.events import EXPORT_MADE
from exports.models import Export
from exports.services import content_of
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from testing.factories import make_order
from testing.people import Browser, browser_of, code_of, make_person
from tests.gateway.helpers import kept_exchange
from tests.staff.helpers import signed_in
from tests.staff.own_keys import with_passkey
from workbench.tasks import write_audit

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("long_books")]

NUMBER = "081298765432"


@pytest.fixture
def auditor() -> Browser:
    make_person("cashier", username="sari")
    facts = {"content": {"destination": NUMBER}, "about": f"Telkomsel → {NUMBER}"}
    record(APPROVAL_ASKED, actor=User.objects.get(username="sari"), subject="approval:1", facts=facts)
    return browser_of("auditor")


@pytest.fixture
def order() -> Order:
    order = make_order(Status.SUCCESS, destination=NUMBER, sn="1")
    raw = {"data": {"destination": NUMBER, "ref_id": order.ref_id}}
    kept_exchange(order.ref_id, request={"destination": NUMBER}, raw=raw)
    return order


def text_of(answer: Any) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return content.decode()


def written(export: Export) -> str:
    write_audit(export.pk)
    export.refresh_from_db()
    return b"".join(content_of(export)).decode()


def noted() -> list[dict[str, Any]]:
    """The facts of the events about files."""
    return list(AuditEvent.objects.filter(kind=EXPORT_MADE.key).order_by("pk").values_list("facts", flat=True))


def code_shown(answer: Any) -> str:
    refusal = answer.context["refusal"]
    return refusal.code if refusal else ""


def test_a_plain_csv_holds_masked_numbers_whoever_makes_it(auditor):
    for role in ("auditor", "administrator"):
        browser = browser_of(role, username=f"a-{role}")

        text = text_of(browser.get("/audit/csv/?kind=approval_asked"))

        assert ("0812•••••432" in text, NUMBER in text) == (True, False), role
    assert noted() == [{"format": "csv", "query": "kind=approval_asked"}] * 2


def test_a_whole_csv_takes_a_fresh_code_and_says_so(auditor):
    page = auditor.get("/audit/whole/?kind=approval_asked")
    without_code = auditor.post("/audit/whole/?kind=approval_asked", {"format": "csv"})
    text = text_of(auditor.confirm("/audit/whole/?kind=approval_asked", {"format": "csv"}))

    assert (page.status_code, NUMBER in text_of(page)) == (200, False)
    assert code_shown(without_code) == "FactorRefused:missing"
    assert text.count(NUMBER) == 2
    assert noted() == [{"format": "csv", "query": "kind=approval_asked", "numbers": "whole"}]


def test_one_code_makes_one_whole_file(auditor):
    code = code_of(User.objects.get(username="auditor"))

    auditor.post("/audit/whole/", {"format": "xlsx", "factor_code": code})
    again = auditor.post("/audit/whole/", {"format": "xlsx", "factor_code": code})

    assert code_shown(again) == "FactorRefused:used"
    assert Export.objects.filter(whole_numbers=True).count() == 1


def test_a_passkey_signs_for_one_file_and_its_filters(auditor):
    person = make_person("auditor", username="budi")
    key, browser = with_passkey(person), signed_in(person)
    content = json.dumps({"list": "audit", "query": "person=sari", "format": "xlsx"})

    for path, file_format, count in (("", "xlsx", 0), ("?person=sari", "csv", 0), ("?person=sari", "xlsx", 1)):
        options = browser.post("/me/factors/options/", {"act": "whole_file", "content": content}).json()["publicKey"]
        browser.post(f"/audit/whole/{path}", {"format": file_format, "factor_assertion": key.sign(options)})

        assert len([facts for facts in noted() if facts.get("numbers") == "whole"]) == count, (path, file_format)


def test_the_workers_file_is_masked_unless_it_was_asked_whole(auditor):
    auditor.post("/audit/csv/?kind=approval_asked")
    auditor.confirm("/audit/whole/?kind=approval_asked", {"format": "xlsx"})
    plain, whole = Export.objects.order_by("pk")
    Export.objects.filter(pk=whole.pk).update(file_format="csv")

    assert (NUMBER in written(plain), NUMBER in written(whole)) == (False, True)
    assert [facts.get("numbers") for facts in noted()] == [None, "whole"]


def test_a_whole_file_is_kept_from_who_lost_the_right(auditor):
    auditor.confirm("/audit/whole/", {"format": "xlsx"})
    export = Export.objects.get()
    write_audit(export.pk)
    person = User.objects.get(username="auditor")
    kept = auditor.get(f"/files/{export.pk}/").status_code

    person.groups.get().permissions.remove(*person.groups.get().permissions.filter(codename="reveal_number"))

    assert (kept, auditor.get(f"/files/{export.pk}/").status_code) == (200, 403)
    assert f'href="/files/{export.pk}/"' not in auditor.get("/files/").content.decode()


def test_a_story_is_masked_and_whole_with_a_code(auditor, order):
    address = f"/orders/{order.ref_id}/story"

    masked = text_of(auditor.get(f"{address}.json"))
    refused = auditor.post(f"{address}/whole/", {"file": "story"})
    whole = text_of(auditor.confirm(f"{address}/whole/", {"file": "story"}))

    assert json.loads(masked)["order"]["destination"] == "0812•••••432"
    assert NUMBER not in masked
    assert code_shown(refused) == "FactorRefused:missing"
    assert json.loads(whole)["order"]["destination"] == NUMBER
    assert noted() == [
        {"list": "story", "format": "json"},
        {"list": "story", "format": "json", "numbers": "whole"},
    ]


def test_a_proof_takes_a_code_as_it_holds_the_number(auditor, order):
    address = f"/orders/{order.ref_id}/story/whole/"

    refused = auditor.post(address, {"file": "proof"})
    made = auditor.confirm(address, {"file": "proof"}, follow=True)

    assert code_shown(refused) == "FactorRefused:missing"
    assert 'data-code="not_sealed"' in text_of(made)  # without the seal there is no file and no event
    assert noted() == []


def test_an_unknown_kind_of_file_is_no_file(auditor, order):
    assert auditor.confirm("/audit/whole/", {"format": "pdf"}).status_code == 400
    assert auditor.confirm(f"/orders/{order.ref_id}/story/whole/", {"file": "x"}).status_code == 400
    assert noted() == []


def test_demo_staff_without_a_factor_follow_the_existing_rule(settings, order):
    settings.SANDBOX = True
    person = make_person("auditor", username="demo", is_demo=True)
    person.authenticator_set.all().delete()

    text = text_of(signed_in(person).post(f"/orders/{order.ref_id}/story/whole/", {"file": "story"}))

    assert NUMBER in text
