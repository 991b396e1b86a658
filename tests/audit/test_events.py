"""Every kind of event is declared once, in the room that raises it, with its words and its subject."""

import ast

import pytest
from django.conf import settings
from django.utils import translation

from audit.events import Event, all_events, event_choices
from audit.facts import all_facts
from audit.subjects import all_subjects

ROOMS = [room for room in settings.INSTALLED_APPS if (settings.BASE_DIR / room).is_dir()]


def users_of_events() -> dict[str, set[str]]:
    """The names that each module imports from `ROOM.events`, by the module's path."""
    found: dict[str, set[str]] = {}
    texts = {path: path.read_text() for room in ROOMS for path in (settings.BASE_DIR / room).rglob("*.py")}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if ".events import" in text else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(".events"):
                names = {alias.name for alias in node.names if alias.name.isupper()}
                found.setdefault(path.relative_to(settings.BASE_DIR).as_posix(), set()).update(names)
    return found


def test_an_event_declared_twice_is_refused():
    with pytest.raises(ValueError, match="sign_in"):
        Event("sign_in", "Signed in")


def test_each_declared_event_is_raised_somewhere():
    raised = set().union(*(names for path, names in users_of_events().items() if not path.endswith("/events.py")))

    assert {event.key.upper() for event in all_events().values()} - raised == set()


def test_each_event_has_words_of_its_own_in_both_languages():
    words_by_language = {}
    for language in ("en", "id"):
        with translation.override(language):
            words_by_language[language] = dict(event_choices())
            assert len(set(words_by_language[language].values())) == len(all_events())
    assert [key for key, words in words_by_language["en"].items() if words == words_by_language["id"][key]] == []


def test_what_events_and_facts_are_about_is_known():
    named = {event.about for event in all_events().values()} | {fact.of for fact in all_facts().values()}

    assert named - {""} - all_subjects().keys() == set()


def test_the_workbench_names_no_event_but_that_of_its_own_files():
    workbench = {path: names for path, names in users_of_events().items() if names and path.startswith("workbench/")}

    assert workbench == {
        "workbench/views/story.py": {"EXPORT_MADE"},
        "workbench/views/verifying.py": {"VERIFICATION_STARTED"},
    }
