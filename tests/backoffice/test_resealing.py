"""After a change of SECRET_KEY, texts of the former key are sealed again; then the former key can go."""

import io
import json
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.db.models import CharField, JSONField, TextField

from alerts.models import AddedWay
from alerts.services.ways import PURPOSE, ways
from backoffice.findings import sealed_secrets
from core.resealing import sealed_rows
from core.sealing import sealed
from staff.allauth_internals import RecoveryCodes
from staff.models import User
from staff.services.factors import use_code
from testing.people import code_of, give_recovery_codes, make_person
from tests.tills.helpers import PIN, give_pin
from tills.models import Pin
from tills.services import epoch_of
from tills.services.pins import PinHasher, _keyed

pytestmark = pytest.mark.django_db
FORMER, PRESENT = "former-" + "x" * 50, "present-" + "y" * 50
# Fernet's first byte is its version, then comes a time of this century
FERNET = re.compile(r"gAAAAA[\w-]{50,}={0,2}")


def sealed_texts() -> dict[str, set[str]]:
    """Each sealed text of the database, by its table: of all models, also of new ones."""
    texts: dict[str, set[str]] = {}
    for model in apps.get_models():
        fields = [field.attname for field in model._meta.concrete_fields if isinstance(field, KEPT_IN)]
        for row in model._default_manager.values_list(*fields) if fields else ():
            if kept := FERNET.findall(json.dumps(row, default=str)):
                texts.setdefault(model._meta.db_table, set()).update(kept)
    return texts


KEPT_IN = (CharField, TextField, JSONField)


@pytest.fixture
def owner(settings) -> User:
    """An owner with an app, recovery codes, a PIN and a way of alerts, all sealed with the former key."""
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = FORMER, []
    person = make_person("admin")
    give_recovery_codes(person)
    give_pin(person)
    address = sealed("tgram://123456789:abcdefghij/-42/", PURPOSE)
    AddedWay.objects.create(name="Phone", service="Telegram", way="w", sealed_address=address, added_by=person)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = PRESENT, [FORMER]
    return person


def reseal(*words: str) -> tuple[int, str]:
    """The exit code and the output."""
    out = io.StringIO()
    try:
        call_command("reseal_secrets", *words, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue()
    return 0, out.getvalue()


def report() -> dict[str, dict[str, object]]:
    return dict(json.loads(reseal("--json")[1]))


def test_the_old_key_can_go_when_all_is_sealed_again(owner, settings):
    before, recovery = sealed_texts(), RecoveryCodes.activate(owner).get_unused_codes()[0]

    # when: sealed again, and the PIN used once
    assert {name: kind["resealed"] for name, kind in report().items()} == {"factors": 2, "alert_ways": 1, "pins": 0}
    assert epoch_of(owner.pk, PIN) == 0

    # then: no text of the former key is left, and everything opens without it
    after = sealed_texts()
    assert {table: len(texts) for table, texts in after.items()} == {"mfa_authenticator": 2, "alerts_addedway": 1}
    assert not any(after[table] & texts for table, texts in before.items())
    settings.SECRET_KEY_FALLBACKS = []
    use_code(owner, code_of(owner))
    use_code(owner, recovery)
    assert epoch_of(owner.pk, PIN) == 0
    assert [way.name for way in ways()] == ["Phone (Telegram)"]


def test_the_second_time_changes_nothing(owner):
    report()
    kept = sealed_texts()

    assert all(kind["resealed"] == 0 for kind in report().values())
    assert sealed_texts() == kept


def test_a_pin_that_nobody_has_used_is_said_and_not_final(owner):
    code, printed = reseal()

    assert code == 3
    assert "PINs: 1 need a former key" in printed


def test_what_no_key_opens_is_an_error(owner, settings):
    settings.SECRET_KEY_FALLBACKS = []

    code, printed = reseal()

    assert code == 1
    assert re.findall(r"(\d+) open with no key", printed) == ["1", "2", "1"]


def test_the_doctor_counts_what_needs_a_former_key(owner, settings):
    [of_former] = sealed_secrets("sealed secrets")
    assert (of_former.verdict, of_former.seen) == (
        "look",
        "a former key is needed by: Ways of alerts 1, Second factors 2, PINs 1",
    )

    report()
    epoch_of(owner.pk, PIN)
    [all_present] = sealed_secrets("sealed secrets")
    assert (all_present.verdict, "SECRET_KEY_FALLBACKS" in all_present.advice) == ("ok", True)

    settings.SECRET_KEY = "another-" + "z" * 50
    settings.SECRET_KEY_FALLBACKS = []
    [lost] = sealed_secrets("sealed secrets")
    assert (lost.verdict, lost.seen) == ("look", "no known key opens: Ways of alerts 1, Second factors 2, PINs 1")


def test_a_pin_without_the_name_of_its_key_moves_when_it_is_used(owner):
    # given: a text of the release before, whose salt names no key
    unnamed = PinHasher().encode(_keyed(owner.pk, PIN, FORMER), "salt")
    Pin.objects.update(encoded=unnamed)
    assert report()["pins"]["former"] == [owner.username]

    assert epoch_of(owner.pk, PIN) == 0

    assert report()["pins"]["former"] == []


def test_a_way_changes_by_nothing_but_its_seal(owner):
    with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
        AddedWay.objects.update(name="Another")


def test_each_room_that_seals_a_text_can_seal_it_again():
    rooms = {path.parts[-2] if path.parent.name != "services" else path.parts[-3] for path in callers_of_sealed()}

    assert rooms == {type(kind).__module__.partition(".")[0] for kind in sealed_rows() if not kind.moves_at_use}


def callers_of_sealed() -> list[Path]:
    root = Path(__file__).resolve().parents[2]
    paths = [
        path for app in apps.get_app_configs() if root == Path(app.path).parent for path in Path(app.path).rglob("*.py")
    ]
    return [path for path in paths if re.search(r"from core\.sealing import .*\bsealed\b", path.read_text())]
