"""The table of rights: the document says the same, and no code or template names a right that it does not hold."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.apps import apps

from core.rights import Right, Role
from tests.roles.helpers import NO, YES, tables

HOUSE = Path(__file__).resolve().parents[2]
IN_TEMPLATES = re.compile(r"\bperms\.(\w+)(?:\.(\w+))?")


def row_of(right: Right) -> dict[str, str]:
    """The cells of its row in the document."""
    held = {role.value: YES if role in right.begins_with else NO for role in Role}
    return {"words": str(right.label), **held, "traits": ", ".join(str(trait.name).lower() for trait in right.traits)}


def rooms() -> list[Path]:
    """The folders of the house's own Django apps."""
    return [Path(app.path) for app in apps.get_app_configs() if Path(app.path).parent == HOUSE]


def test_the_document_has_each_right_as_the_table_has_it():
    assert tables()["permission"] == {right.value: row_of(right) for right in Right}


def test_each_permission_of_our_models_is_a_right():
    ours = {path.name for path in rooms()}
    made = {
        f"{model._meta.app_label}.{codename}"
        for model in apps.get_models()
        if model._meta.app_label in ours
        for codename, _name in model._meta.permissions
    }

    assert made == set(Right.values)


@pytest.mark.parametrize("path", sorted((HOUSE / "templates").rglob("*.html")), ids=lambda path: path.stem)
def test_a_template_names_only_rights_of_the_table(path):
    named = {f"{app}.{codename}" for app, codename in IN_TEMPLATES.findall(path.read_text())}

    assert named <= set(Right.values)


def test_no_code_spells_a_right_as_a_string():
    files = [path for room in rooms() for path in room.rglob("*.py") if "migrations" not in path.parts]
    spelled = [
        (path.relative_to(HOUSE), node.lineno, node.value)
        for path in files
        if path != HOUSE / "core" / "rights.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in Right.values
    ]

    assert len(files) > 100
    assert not spelled
