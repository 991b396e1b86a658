"""Every text exists in Indonesian, every icon exists, and times and amounts look as people here write them."""

import datetime as dt
import io
import os
import re
from pathlib import Path

import pytest
import time_machine
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils import timezone, translation
from django.utils.translation.template import templatize

from core.templatetags.ui import moment, rupiah
from purchases.states import Status
from purchases.templatetags.orders import status_badge

_NO_ROOM = {"benchmarks", "checks", "launcher", "sandbox", "tests"}
ROOMS = sorted({path.parent.name for path in Path(settings.BASE_DIR).glob("*/__init__.py")} - _NO_ROOM)
KEYWORDS = {
    **dict.fromkeys(["_", "gettext", "gettext_lazy", "gettext_noop"]),
    **dict.fromkeys(["ngettext", "ngettext_lazy"], (1, 2)),
    **dict.fromkeys(["pgettext", "pgettext_lazy"], ((1, "c"), 2)),
    **dict.fromkeys(["npgettext", "npgettext_lazy"], ((1, "c"), 2, 3)),
}
_SUFFIXES = (".html", ".txt")
INDONESIAN = Path(settings.BASE_DIR) / "locale/id/LC_MESSAGES/django.po"


def _texts_of(source: str) -> set[str]:
    messages = extract_python(io.BytesIO(source.encode()), KEYWORDS, [], {})
    texts = set()
    for _line, function, message, _comments in messages:
        parts = [message] if isinstance(message, str) else [part for part in message if part]
        if parts:
            texts.add(parts[1] if function.startswith(("pgettext", "npgettext")) else parts[0])
    return texts


def _templates() -> list[Path]:
    return sorted(path for path in (Path(settings.BASE_DIR) / "templates").rglob("*.*") if path.suffix in _SUFFIXES)


def _texts() -> set[str]:
    texts: set[str] = set()
    for room in ROOMS:
        for path in (Path(settings.BASE_DIR) / room).rglob("*.py"):
            text = path.read_text()
            texts |= _texts_of(text) if "gettext" in text else set()
    for path in _templates():
        # in brackets, because a template's indentation is not Python's
        texts |= _texts_of(f"({templatize(path.read_text())})")
    return texts


def test_every_text_is_translated_and_none_is_left_over():
    with INDONESIAN.open("rb") as source:
        catalogue = {
            (message.id[0] if message.pluralizable else message.id): message
            for message in read_po(source)
            if message.id
        }

    texts = _texts()
    assert texts - set(catalogue) == set(), "run makemessages and translate"
    assert set(catalogue) - texts == set(), "no longer used"
    assert [text for text, message in catalogue.items() if message.fuzzy or not message.string] == []


def test_translations_keep_the_places_for_values():
    with INDONESIAN.open("rb") as source:
        for message in read_po(source):
            if not message.id:
                continue
            ids = message.id if message.pluralizable else (message.id,)
            strings = message.string if message.pluralizable else (message.string,)
            wanted = set(re.findall(r"%\(\w+\)s", ids[-1]))
            for string in strings:
                assert set(re.findall(r"%\(\w+\)s", string)) <= wanted
                assert wanted <= set(re.findall(r"%\(\w+\)s", string)), message.id


def test_every_icon_in_the_templates_exists():
    folder = Path(settings.NODE_MODULES) / "@tabler/icons/icons/outline"
    used = {name for path in _templates() for name in re.findall(r'{% icon "([^"]+)" %}', path.read_text())}

    assert used
    assert {
        name for name in used | {status.look.icon for status in Status} if not (folder / f"{name}.svg").exists()
    } == set()


def test_each_status_is_a_word_with_an_icon_of_its_own():
    for status in Status:
        badge = status_badge(status)

        assert str(status.label) in badge
        assert "<svg" in badge
    assert len({status.look.icon for status in Status}) == len(Status)


def test_amounts_are_rupiah():
    assert [*map(rupiah, (150_000, 0, -1, None))] == ["Rp150.000", "Rp0", "−Rp1", "–"]


def test_a_time_is_of_today_or_has_its_day():
    at = dt.datetime(2026, 8, 22, 3, 4, 5, tzinfo=dt.UTC)
    for language, later, shown in (
        ("en", dt.timedelta(minutes=3), [">10:04<", ">3 minutes ago<", 'title="22 Aug 2026 10:04:05 WIB"']),
        ("en", dt.timedelta(hours=3), [">10:04<"]),
        ("id", dt.timedelta(days=2), [">22 Agu, 10.04<"]),
        ("id", dt.timedelta(days=400), [">22 Agu 2026, 10.04<"]),
    ):
        with translation.override(language), time_machine.travel(at + later, tick=False):
            assert [text for text in shown if text not in moment(at)] == []
            assert ("data-relative" in moment(at)) == (later < dt.timedelta(hours=1)), later
    assert timezone.get_current_timezone_name() == "Asia/Jakarta"


def test_compile_po_makes_only_what_is_missing_or_stale(tmp_path):
    folder = tmp_path / "id/LC_MESSAGES"
    folder.mkdir(parents=True)
    po, mo = folder / "django.po", folder / "django.mo"
    po.write_text('msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\nmsgid "Buy"\nmsgstr "Beli"\n')

    with override_settings(LOCALE_PATHS=[tmp_path]):
        call_command("compile_po", verbosity=0)
        first = mo.stat().st_mtime_ns
        call_command("compile_po", verbosity=0)
        assert mo.stat().st_mtime_ns == first
        assert b"Beli" in mo.read_bytes()

        po.write_text(po.read_text().replace("Beli", "Membeli"))
        os.utime(po, ns=(first + 10**9, first + 10**9))
        call_command("compile_po", verbosity=0)
        assert b"Membeli" in mo.read_bytes()
    assert [path.name for path in folder.iterdir() if path.suffix not in {".po", ".mo"}] == []


def test_compile_po_names_a_file_that_it_cannot_read(tmp_path):
    folder = tmp_path / "id/LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "django.po").write_text('msgid "Buy"\nnonsense\n')

    with override_settings(LOCALE_PATHS=[tmp_path]), pytest.raises(CommandError, match=r"django\.po is not a valid"):
        call_command("compile_po", verbosity=0)
