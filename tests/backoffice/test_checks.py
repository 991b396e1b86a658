"""The settings that the start refuses, each with its own id, and those that it allows."""

import os
import runpy
from pathlib import Path
from typing import Any

import pytest
import structlog
from django.core.checks import Error
from django.core.management import CommandError, call_command
from django.test import override_settings
from pytest_django.fixtures import Settings

from backoffice import settings as settings_module
from backoffice.checks import check_configuration

LONGEST_CALL = 5.0 + 30.0


def ids() -> list[str]:
    return [message.id for message in check_configuration()]


def settings_read() -> dict[str, Any]:
    """The settings, read again from the environment."""
    logging = structlog.get_config()
    read = runpy.run_path(settings_module.__file__)
    # Reading the settings configures the log again, and loggers in use would not follow.
    structlog.configure(**logging)
    return read


@pytest.fixture
def real(settings: Settings) -> Settings:
    settings.SANDBOX = False
    settings.UPSTREAM_BASE_URL = "https://upstream.example.com"
    settings.SECRET_KEY = "a key that only tests have, of many random letters"
    settings.HTTPS = settings.BEHIND_TLS_PROXY = True
    settings.TRUSTED_PROXY_COUNT = 1
    return settings


def test_settings_that_work_pass(real: Settings) -> None:
    real.AUDIT_KEY = "A" * 43 + "="
    real.UPSTREAM_CALLBACK_ALLOWED_IPS = ["203.0.113.7", "203.0.113.9/24", "2001:db8::/32"]
    real.ORDER_NOT_FOUND_GRACE_SECONDS = LONGEST_CALL + 1
    assert ids() == []
    real.SANDBOX, real.UPSTREAM_BASE_URL = True, "http://127.0.0.1:8100"
    assert ids() == []
    # the sandbox may run with debug and without hosts
    real.DEBUG, real.ALLOWED_HOSTS, real.UPSTREAM_BASE_URL = True, [], ""
    assert ids() == []


WRONG = [
    ("UPSTREAM_BASE_URL", "", "E001"),
    ("UPSTREAM_SECRET_ID", "", "E001"),
    ("UPSTREAM_SECRET_KEY", "", "E001"),
    ("ALLOWED_HOSTS", [], "E001"),
    ("UPSTREAM_BASE_URL", "http://upstream.example.com", "E002"),
    ("UPSTREAM_BASE_URL", "https://upstream.example.com/v1/", "E002"),
    ("UPSTREAM_ACCOUNT_RATE", "120", "E003"),
    ("UPSTREAM_IP_RATE", "0/minute", "E003"),
    ("UPSTREAM_PRODUCTS_RATE", "6/day", "E003"),
    ("UPSTREAM_CONNECT_TIMEOUT", 0.0, "E004"),
    ("UPSTREAM_READ_TIMEOUT", -1.0, "E004"),
    ("ORDER_CHECK_FIRST_SECONDS", 0.0, "E004"),
    ("ORDER_CHECK_MAX_SECONDS", float("nan"), "E004"),
    ("ORDER_LEASE_SECONDS", float("inf"), "E004"),
    ("UPSTREAM_CALLBACK_VERIFIER", "sha1", "E005"),
    ("UPSTREAM_CALLBACK_ALLOWED_IPS", ["203.0.113.0/33"], "E006"),
    ("UPSTREAM_CALLBACK_ALLOWED_IPS", ["198.51.100.1", "gateway.example.com"], "E006"),
    ("ALERT_URLS", ["tgram://TOKEN"], "E009"),
    ("ALERT_URLS", ["jsons://hooks.example.com/x", "hooks.example.com/TOKEN"], "E009"),
    ("ALERT_URLS", ["mailto://mail.example.com?from=a@b.id&to=TOKEN"], "E009"),
    ("AUDIT_CHECKPOINT_URLS", ["tgram://TOKEN"], "E009"),
    ("DEBUG", True, "E007"),
    ("ORDER_NOT_FOUND_GRACE_SECONDS", LONGEST_CALL, "E008"),
    ("ORDER_NOT_FOUND_GRACE_SECONDS", float("nan"), "E008"),
    ("ORDER_NOT_FOUND_ANSWERS", 0, "E010"),
    ("ORDER_CHECK_MAX_SECONDS", 1.0, "E010"),
    ("UPSTREAM_INTERACTIVE_WAIT", -1.0, "E010"),
    ("UPSTREAM_COUNTS_WITHIN_SECONDS", -1.0, "E010"),
    ("TRUSTED_PROXY_COUNT", -1, "E010"),
    ("ALERT_URLS", ["json://hooks.example.com/TOKEN"], "E011"),
    ("ALERT_URLS", ["jsons://a.example/x", "form://hooks.example.com/TOKEN"], "E011"),
    ("ALERT_URLS", ["mailto://a:TOKEN@mail.example.com?from=a@b.id&to=a@b.id"], "E011"),
    ("AUDIT_CHECKPOINT_URLS", ["json://hooks.example.com/TOKEN"], "E011"),
    ("SENTRY_DSN", "http://TOKEN@sentry.example.com/1", "E011"),
    ("SECRET_KEY", "abcdefg" * 7, "E012"),
    ("SECRET_KEY", "abcd" * 20, "E012"),
    ("SECRET_KEY_FALLBACKS", ["abcdefg" * 8, "abcd" * 10], "E012"),
    ("METRICS_TOKEN", "short", "E012"),
    ("ALLOWED_HOSTS", ["shop.example.com", "*"], "E013"),
    ("ALLOWED_HOSTS", [".com"], "E013"),
    ("ALLOWED_HOSTS", ["https://shop.example.com"], "E020"),
    ("ALLOWED_HOSTS", ["shop.example.com:8443"], "E020"),
    ("ALLOWED_HOSTS", ["a.example.com b.example.com"], "E020"),
    ("CSRF_TRUSTED_ORIGINS", ["https://*.example.com"], "E013"),
    ("CSRF_TRUSTED_ORIGINS", ["http://shop.example.com"], "E013"),
    ("HTTPS", False, "E014"),
    ("BEHIND_TLS_PROXY", False, "E014"),
    ("TRUSTED_PROXY_COUNT", 0, "E014"),
    ("SITE_URL", "http://shop.example.com", "E014"),
    ("BACKOFFICE_SANDBOX", True, "E018"),
    ("AUDIT_KEY", "A" * 43, "E019"),
    ("AUDIT_KEY", "A" * 42 + "?=", "E019"),
    ("AUDIT_KEY", "A" * 22 + "==", "E019"),
]


def test_a_setting_that_fails_later_is_refused(real: Settings) -> None:
    for setting, value, found in WRONG:
        with override_settings(**{setting.removeprefix("BACKOFFICE_"): value}):
            faults = check_configuration()

        assert [fault.id for fault in faults] == [f"backoffice.{found}"], (setting, value)
        [fault] = faults
        assert isinstance(fault, Error)
        assert setting in fault.msg
        assert fault.hint
        assert "TOKEN" not in str(fault).replace("METRICS_TOKEN", ""), setting


def test_only_a_trial_on_one_machine_is_told_of_https_off(real: Settings) -> None:
    real.SITE_URL, real.CSRF_TRUSTED_ORIGINS = "http://localhost:8000", ["http://localhost:8000"]
    for address, is_named in (("http://localhost:9000", True), ("https://up.example.com", False)):
        real.UPSTREAM_BASE_URL = address

        hints = [fault.hint or "" for fault in check_configuration()]

        assert ["HTTPS=0" in hint for hint in hints] == [is_named] * 2, address


def test_a_trial_without_tls_has_no_links_to_https(real: Settings) -> None:
    real.UPSTREAM_BASE_URL, real.HTTPS, real.BEHIND_TLS_PROXY = "http://localhost:9000", False, False
    real.TRUSTED_PROXY_COUNT, real.SITE_URL = 0, "https://localhost"

    assert [(fault.id, "SITE_URL" in fault.msg) for fault in check_configuration()] == [("backoffice.E014", True)]


def test_a_policy_of_the_environment_out_of_its_bounds_is_refused(real: Settings) -> None:
    for name, value in (("exchanges_kept_days", 7), ("alert_low_balance", -1)):
        real.POLICIES = {name: value}

        [fault] = check_configuration()

        assert (fault.id, name.upper() in fault.msg) == ("backoffice.E015", True), name


def test_a_comma_may_belong_to_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for written, addresses in {
        "": [],
        " json://a/x \n json://b ": ["json://a/x", "json://b"],
        "json://a, json://b,json://c?to=x,y": ["json://a", "json://b", "json://c?to=x,y"],
        "json://a nonsense": ["json://a", "nonsense"],
    }.items():
        monkeypatch.setenv("ALERT_URLS", written)

        assert settings_read()["ALERT_URLS"] == addresses


def test_messages_go_encrypted_or_to_this_machine(real: Settings) -> None:
    mail = "mailtos://a:b@mail.example.com?from=a@b.id&to=a@b.id"
    for address in ("jsons://a.example/x", "json://127.0.0.1:9/x", mail):
        real.ALERT_URLS = [address]
        assert ids() == [], address


def test_a_store_on_another_machine_without_tls_is_named(real: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, safe = {"sslmode": "prefer"}, {"sslmode": "verify-full"}
    for database, redis, found in (
        ({"HOST": "db.example.com"}, "redis://127.0.0.1:6379/0", ["W015"]),
        ({"HOST": "10.0.0.5", "OPTIONS": plain}, "redis://:secret@10.0.0.6:6379/0", ["W015", "W015"]),
        ({"HOST": "10.0.0.5", "OPTIONS": safe}, "rediss://:secret@10.0.0.6:6379/0", []),
        ({"HOST": "/run/postgresql"}, "redis://[::1]:6379/0", []),
        ({"HOST": "postgres"}, "redis://valkey:6379/0", []),  # for containers of one machine
    ):
        monkeypatch.setitem(real.DATABASES, "default", {"OPTIONS": {}, **database})
        real.REDIS_URL = redis

        faults = check_configuration()

        assert [fault.id.removeprefix("backoffice.") for fault in faults] == found, database
        assert not any(fault.is_serious() or "secret" in str(fault) for fault in faults)


def test_the_verifier_none_needs_the_senders_addresses(real: Settings) -> None:
    real.UPSTREAM_CALLBACK_VERIFIER = "none"
    assert ids() == ["backoffice.E013"]

    real.UPSTREAM_CALLBACK_ALLOWED_IPS = ["203.0.113.0/24"]
    assert ids() == []


def test_a_secret_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of-a-file\n")
    names = ("SECRET_KEY", "UPSTREAM_SECRET_KEY", "UPSTREAM_SECRET_KEY_PREVIOUS", "METRICS_TOKEN", "REDIS_URL")
    for name in names:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "secret"))

    read = settings_read()

    assert {name: read[name] for name in names} == dict.fromkeys(names, "of-a-file")


def test_former_keys_come_from_the_environment_or_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for written, keys in {"": [], "key-before": ["key-before"], "a,b": ["a", "b"]}.items():
        with monkeypatch.context() as patch:
            patch.setenv("SECRET_KEY_FALLBACKS", written)
            of_environment = settings_read()["SECRET_KEY_FALLBACKS"]
            (tmp_path / "secret").write_text(f"{written}\n")
            patch.delenv("SECRET_KEY_FALLBACKS")
            patch.setenv("SECRET_KEY_FALLBACKS_FILE", str(tmp_path / "secret"))
            of_file = settings_read()["SECRET_KEY_FALLBACKS"]

        assert of_environment == of_file == keys


def test_what_cannot_be_read_ends_the_start_with_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value, allowed in (
        ("HTTPS", "perhaps", "1 or 0"),
        ("LOG_LEVEL", "LOUD", "WARNING"),
        ("LOG_LEVEL", "WARN", "WARNING"),
        ("LOG_LEVEL", "10", "WARNING"),
        ("PIN_IDLE_MINUTES", "5.5", "a whole number"),
        ("ORDER_LEASE_SECONDS", "a minute", "a number"),
        ("OIDC_ROLES", "cashier", "name=value"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            with pytest.raises(SystemExit) as end:
                runpy.run_path(settings_module.__file__)

        line = str(end.value.code)
        assert line.startswith(f"{name} must be "), (name, value)
        assert allowed in line
        assert "\n" not in line


def test_spaces_between_values_and_empty_values_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", "a.example.com, b.example.com,")
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", "one , two")
    monkeypatch.setenv("OIDC_ROLES", "kasir=cashier, kepala = administrator")
    empty = {"SHOP_NAME": "Toko Kita", "OIDC_CLAIM": "groups", "DEBUG": False, "ORDER_LEASE_SECONDS": 60.0}
    for name in empty:
        monkeypatch.setenv(name, "")

    read = settings_read()

    assert read["ALLOWED_HOSTS"] == ["a.example.com", "b.example.com"]
    assert read["SECRET_KEY_FALLBACKS"] == ["one", "two"]
    assert read["OIDC_ROLES"] == {"kasir": "cashier", "kepala": "administrator"}
    assert {name: read[name] for name in empty} == empty


def test_a_wrong_address_with_a_password_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://shop:SECRET@[127.0.0.1/backoffice")

    with pytest.raises(SystemExit, match=r"^DATABASE_URL must be ") as end:
        runpy.run_path(settings_module.__file__)

    assert "SECRET" not in str(end.value.code)


def test_a_secrets_file_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("METRICS_TOKEN_FILE", str(tmp_path / "none"))

    with pytest.raises(SystemExit, match="METRICS_TOKEN_FILE"):
        runpy.run_path(settings_module.__file__)


@pytest.mark.parametrize(("level", "kept"), [("debug", 10), ("ERROR", 40)])
def test_a_log_level_is_read_in_any_case(monkeypatch: pytest.MonkeyPatch, level: str, kept: int) -> None:
    monkeypatch.setenv("LOG_LEVEL", level)

    assert settings_read()["LOGGING"]["root"]["level"] == kept


@pytest.mark.parametrize(("as_owner", "role"), [("0", "shop"), ("1", "owner")])
def test_only_commands_for_owners_keep_the_owners_address(
    monkeypatch: pytest.MonkeyPatch, as_owner: str, role: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://shop:a@127.0.0.1:9/backoffice")
    monkeypatch.setenv("DATABASE_OWNER_URL", "postgresql://owner:b@127.0.0.1:9/backoffice")
    monkeypatch.setenv("DATABASE_AS_OWNER", as_owner)

    read = settings_read()

    assert read["DATABASES"]["default"]["USER"] == role
    assert read["DATABASE_APP_ROLE"] == "shop"
    assert ("DATABASE_OWNER_URL" in os.environ) is (role == "owner")


def test_an_empty_key_of_the_audit_is_refused_without_one_in_the_settings(real: Settings, tmp_path: Path) -> None:
    real.DATA_DIR, real.AUDIT_KEY = tmp_path, ""
    assert ids() == []

    (tmp_path / "audit.key").touch()

    assert ids() == ["backoffice.E022"]
    real.AUDIT_KEY = "A" * 43 + "="
    assert ids() == []


def test_a_folder_that_this_user_may_not_look_into_ends_no_command(real: Settings, tmp_path: Path) -> None:
    # the tests' root may look into every folder, so a name that no folder can have
    real.DATA_DIR, real.AUDIT_KEY = tmp_path / ("x" * 300), ""

    assert ids() == []


def test_every_start_is_refused_by_a_fault(real: Settings) -> None:
    real.UPSTREAM_CALLBACK_VERIFIER = "sha1"
    with pytest.raises(CommandError, match=r"backoffice\.E005"):
        call_command("check")
