"""compose.yaml, and the script that makes its passwords."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
SECRET = re.compile(r"PASSWORD|SECRET|_KEY|TOKEN|REDISCLI_AUTH|DATABASE_(OWNER_)?URL|REDIS_URL")

# Settings without a use in a container: paths, the sandbox, and TLS and proxy, which compose.yaml sets.
OF_THE_HOST = {
    *("HTTPS", "DEBUG", "DATABASE_POOLED", "INSTALLATION", "BACKOFFICE_DATA", "BACKUP_STAMP", "AUDIT_CHECKPOINT_FILE"),
    *(
        "SANDBOX_DATABASE_URL",
        "SANDBOX_SPEED",
        "SANDBOX_CUT_OFF",
        "SANDBOX_CALLBACK_SCHEDULE",
        "SANDBOX_OPENING_BALANCE",
    ),
}


def test_compose_has_no_password_of_its_own():
    environments = [service.get("environment") or {} for service in SERVICES.values()]
    named = {name: str(value) for environment in environments for name, value in environment.items()}
    secret = {name: value for name, value in named.items() if SECRET.search(name)}

    assert len(secret) >= 10
    for name, value in secret.items():
        assert "${" in value, name
        assert not re.search(r":-[^}]", value), f"{name} has a default"
        if value.startswith(("postgresql:", "redis:")):
            assert re.search(r":\$\{\w+[^}]*\}@", value), f"{name}: the password is a variable"


def test_whatever_env_may_say_reaches_every_role():
    may_say = set(re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    may_say |= set(re.findall(r"`((?:UPSTREAM|ORDER|OIDC)_[A-Z_]+)`", (ROOT / "docs/settings.md").read_text()))
    for role in ("web", "worker", "background", "beat"):
        assert may_say - OF_THE_HOST - {"DATABASE_OWNER_URL"} <= set(SERVICES[role]["environment"]), role


def test_only_what_makes_the_tables_knows_their_owners_password():
    knows = {name for name, service in SERVICES.items() if "OWNER_PASSWORD" in str(service)}
    waits = {name for name, service in SERVICES.items() if "manage" in service.get("depends_on", {})}

    assert knows == {"manage", "postgres"}
    assert waits == {"web", "worker", "background", "beat"}
    assert SERVICES["manage"]["command"] == ["prepare_app"]


def test_no_container_may_more_than_its_work():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]

    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    assert {name: service["cap_add"] for name, service in services.items() if "cap_add" in service} == {
        "proxy": ["NET_BIND_SERVICE"]
    }


def test_the_proxy_reaches_no_store_and_a_store_only_the_roles():
    file = yaml.safe_load((ROOT / "compose.yaml").read_text())
    networks = {name: set(service["networks"]) for name, service in file["services"].items()}

    assert networks["proxy"] == {"pages"}
    assert networks["postgres"] == networks["valkey"] == {"stores"}
    assert file["networks"]["stores"] == {"internal": True}
    assert {name for name, joined in networks.items() if "pages" in joined} == {"proxy", "web"}


def test_a_role_may_have_several_containers():
    for role in ("web", "worker", "background", "beat"):
        # the first container would take a name, a data folder or a port that all share
        assert not {"hostname", "container_name", "volumes", "ports"} & set(SERVICES[role]), role


def test_each_installation_gets_passwords_of_its_own(tmp_path: Path):
    for name in ("first", "second"):
        made = [sys.executable, str(ROOT / "deploy/new_env.py"), str(tmp_path / name)]
        assert subprocess.run(made, capture_output=True, check=False).returncode == 0
    first, second = (
        dict(line.split("=", 1) for line in (tmp_path / name).read_text().split()) for name in ("first", "second")
    )
    generated = {name for name, value in first.items() if value}

    assert generated >= {
        *("SECRET_KEY", "AUDIT_KEY"),
        *("POSTGRES_PASSWORD", "OWNER_PASSWORD", "APP_PASSWORD", "VALKEY_PASSWORD"),
    }
    assert len({source[name] for name in generated for source in (first, second)}) == 2 * len(generated)
    assert (tmp_path / "first").stat().st_mode & 0o077 == 0


def test_an_env_that_is_there_stays(tmp_path: Path):
    (tmp_path / "env").write_text("SECRET_KEY=kept\n")

    again = subprocess.run(
        [sys.executable, str(ROOT / "deploy/new_env.py"), str(tmp_path / "env")], capture_output=True, check=False
    )

    assert again.returncode == 1
    assert (tmp_path / "env").read_text() == "SECRET_KEY=kept\n"
