"""The table of rights agrees with the document, and code and templates name only rights of the table."""

import ast
import re
from pathlib import Path

import pytest
from django.apps import apps

from core.rights import Right, Role
from tests.roles.helpers import HOUSE, NO, YES, tables

IN_TEMPLATES = re.compile(r"\bperms\.(\w+)(?:\.(\w+))?")


def row_of(right: Right) -> dict[str, str]:
    """The cells of the right's row in the document."""
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


def test_a_template_names_only_rights_of_the_table():
    named = {
        (f"{app}.{codename}", path.name)
        for path in (HOUSE / "templates").rglob("*.html")
        for app, codename in IN_TEMPLATES.findall(path.read_text())
    }

    assert len(named) > 50
    assert [row for row in sorted(named) if row[0] not in Right.values] == []


@pytest.fixture(scope="module")
def modules() -> list[tuple[Path, ast.Module]]:
    """Every module of the rooms, except the table itself and the migrations."""
    files = [path for room in rooms() for path in room.rglob("*.py") if "migrations" not in path.parts]
    assert len(files) > 100
    return [
        (path.relative_to(HOUSE), ast.parse(path.read_text())) for path in files if path != HOUSE / "core" / "rights.py"
    ]


def test_no_code_spells_a_right_as_a_string(modules):
    rights = frozenset(Right.values)
    spelled = [
        (path, node.lineno, node.value)
        for path, module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.Constant)
        if isinstance(node.value, str) and not rights.isdisjoint(node.value.split())
    ]
    codenames = [
        (path, node.value.lineno, node.value.value)
        for path, module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant)
        if (node.arg or "").endswith("codename")
    ]

    assert not spelled + codenames


def test_no_module_gives_a_right_another_name(modules):
    aliases = [
        (path, node.lineno)
        for path, module in modules
        for node in module.body
        if isinstance(node, ast.Assign)
        for value in (getattr(node.value, "elts", []) if isinstance(node.targets[0], ast.Tuple) else [node.value])
        if isinstance(value, ast.Attribute) and ast.unparse(value).startswith("Right.")
    ]

    assert not aliases
