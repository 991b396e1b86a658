"""The check of layers finds each kind of use of a higher room."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from checks.layers import House, borrowed, broken_imports

PLAN = """
[tool.house]
rooms = ["roof", "till | store", "core"]
modules = ["views", "models"]
laid_out_differently = ["roof", "core"]
apart = []
private = {}
templates = {parts = "core"}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small house in order: a roof, two rooms on one line, and the ground below them."""
    (tmp_path / "pyproject.toml").write_text(PLAN)
    for room in ("roof", "till", "store", "core"):
        (tmp_path / room / "templatetags").mkdir(parents=True)
        for package in (tmp_path / room, tmp_path / room / "templatetags"):
            (package / "__init__.py").write_text("")
        (tmp_path / room / "templatetags" / f"{room}_tags.py").write_text("")
        (tmp_path / "templates" / room).mkdir(parents=True)
    (tmp_path / "templates/parts").mkdir()
    (tmp_path / "templates/parts/table.html").write_text("")
    (tmp_path / "templates/base.html").write_text('{% include "till/bar.html" %}')
    (tmp_path / "templates/till/bar.html").write_text(
        '{% extends "base.html" %}{% load i18n till_tags %}{% include "parts/table.html" with here="till" %}'
    )
    (tmp_path / "till/views.py").write_text("import core\n")
    return tmp_path


def test_a_house_in_order_passes(root: Path) -> None:
    house = House(root)

    assert list(house.upward_templates()) == []
    assert list(house.upward_settings(SimpleNamespace(READ_BY="core.numbers.read"))) == []
    assert broken_imports(house) == ""


@pytest.mark.parametrize(
    ("template", "text", "what"),
    [
        ("core/number.html", '{% include "till/bar.html" %}', "includes till/bar.html, of till"),
        ("parts/table.html", "{% load till_tags %}", "loads till_tags, of till"),
        ("store/list.html", '{% extends "till/bar.html" %}', "extends till/bar.html, of till"),
        ("till/bar.html", '{% include "home.html" %}', "includes home.html, of roof"),
    ],
)
def test_a_template_that_uses_a_room_above_or_beside_is_found(root: Path, template: str, text: str, what: str) -> None:
    (root / "templates" / template).write_text(text)

    assert [line.split(": ", 1)[1] for line in House(root).upward_templates()] == [f"{what}, which stands above"]


def test_a_setting_that_names_a_room_above_is_found_where_it_is_read(root: Path) -> None:
    (root / "core/numbers.py").write_text("from django.conf import settings\nread = settings.READ_BY\n")

    faults = list(House(root).upward_settings(SimpleNamespace(READ_BY=["till.views.read"])))

    assert faults == ["core/numbers.py: settings.READ_BY names till, which stands above"]


def test_an_import_upwards_is_found(root: Path) -> None:
    (root / "core/numbers.py").write_text("import till.views\n")

    assert "core is not allowed to import till" in broken_imports(House(root))


@pytest.mark.parametrize("text", ["from django.http import HttpRequest\n", "def pay(request): request.POST\n"])
def test_a_service_that_names_the_request_of_a_page_is_found(root: Path, text: str) -> None:
    (root / "till/services").mkdir()
    (root / "till/services/sending.py").write_text("def send(request): request.fields\n")
    (root / "till/services/paying.py").write_text(text)

    [fault] = House(root).requests_in_services()

    assert fault.startswith("till/services/paying.py: names ")


def test_what_is_borrowed_from_a_test_file_or_by_a_benchmark_from_the_tests_is_found(root: Path) -> None:
    for name, text in {
        "tests/till/test_bar.py": "from tests.till.helpers import scan\nfrom tests.till.test_scan import scan_twice\n",
        "benchmarks/bar.py": "from testing.people import cashier\ndef measure():\n    from tests.till import helpers\n",
    }.items():
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text)

    assert list(borrowed(root)) == [
        "tests/till/test_bar.py: imports from tests.till.test_scan",
        "benchmarks/bar.py: imports from tests.till",
    ]
