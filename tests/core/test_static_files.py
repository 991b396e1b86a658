"""The pages' files are collected once, compressed, and named with a hash; browsers keep them for years."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from django.core.management import call_command
from django.test import Client

from backoffice.guide import _guide
from core.static_files import PageFiles

TEMPLATES = sorted((project.BASE_DIR / "templates").rglob("*.html"))
LIMIT = 250_000


@pytest.fixture
def collected(settings: Any, tmp_path: Path) -> Iterator[Path]:
    """The folder of the collected files, as a web process that starts now serves it."""
    settings.STATIC_ROOT = tmp_path / "static"
    call_command("collect_files")
    settings.STORAGES = dict(settings.STORAGES)  # read again
    _guide.cache_clear()
    yield settings.STATIC_ROOT
    _guide.cache_clear()


def get(address: str, **headers: str) -> Any:
    return Client().get(address, headers={"Accept-Encoding": "gzip", **headers})


def named_files() -> set[str]:
    """Every file that a template names."""
    texts = [path.read_text() for path in TEMPLATES]
    return {name for text in texts for name in re.findall(r"{% static '([^']+)' %}", text)}


@pytest.mark.django_db
def test_a_first_visit_weighs_little_and_is_kept_for_years(collected):
    assert len(named_files()) > 15
    assert not [name for name in sorted(named_files()) if PageFiles().stored_name(name) == name]
    page = get("/accounts/login/")
    weight = len(page.content)
    addresses = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', gzip.decompress(page.content).decode()))

    assert len(addresses) > 8
    for address in addresses:
        file = get(address)
        assert re.search(r"\.[0-9a-f]{12}\.\w+$", address)
        assert address.endswith(".png") or file["Content-Encoding"] == "gzip"  # a PNG is compressed already
        assert "immutable" in file["Cache-Control"]
        assert int(re.search(r"max-age=(\d+)", file["Cache-Control"])[1]) >= 365 * 86_400  # type: ignore[index]
        weight += len(file.getvalue())
    assert weight <= LIMIT


def test_a_start_makes_only_files_again_that_a_power_cut_emptied(collected):
    before = {path: path.stat().st_mtime_ns for path in collected.rglob("*")}
    call_command("collect_files")
    assert {path: path.stat().st_mtime_ns for path in collected.rglob("*")} == before

    for name in ("staticfiles.json", "css/app.css"):
        emptied = collected / PageFiles().stored_name(name)
        emptied.write_bytes(b"")

        call_command("collect_files")

        assert emptied.stat().st_size > 0, name
        assert not [name for name in sorted(named_files()) if PageFiles().stored_name(name) == name]


def test_a_known_file_is_not_sent_and_an_old_name_leads_to_it(collected):
    address = f"/static/{PageFiles().stored_name('js/app.js')}"
    first = get(address)

    again = get(address, **{"If-Modified-Since": first["Last-Modified"]})

    assert (again.status_code, again.getvalue()) == (304, b"")
    for name in ("js/app.js", "js/app.0123456789ab.js"):
        answer = get(f"/static/{name}")
        assert (answer.status_code, answer["Location"]) == (302, address), name
        assert "immutable" not in answer.get("Cache-Control", "")


@pytest.mark.django_db
def test_a_file_that_is_not_collected_costs_no_page(collected):
    manifest = collected / "staticfiles.json"
    known = json.loads(manifest.read_text())
    del known["paths"]["css/app.css"]
    manifest.write_text(json.dumps(known))

    page = Client().get("/accounts/login/")

    assert page.status_code == 200
    assert 'href="/static/css/app.css"' in page.content.decode()


def test_only_a_changed_file_is_collected_again(collected, settings, tmp_path):
    changed = tmp_path / "source"
    changed.mkdir()
    (changed / "new.js").write_text("1;")
    settings.STATICFILES_DIRS = [*settings.STATICFILES_DIRS, changed]
    call_command("collect_files")

    assert any(re.fullmatch(r"new\.[0-9a-f]{12}\.js", name) for name in (path.name for path in collected.rglob("*.*")))


@pytest.mark.django_db
def test_the_guides_pictures_have_hashed_names(collected, cashier):
    pictures = re.findall(r'src="(/static/pictures/[^"]+)"', cashier.get("/guide/").content.decode())

    assert len(pictures) == 5
    assert all("immutable" in get(picture)["Cache-Control"] for picture in pictures)
    assert all(get(picture)["Content-Type"] == "image/png" for picture in pictures)
