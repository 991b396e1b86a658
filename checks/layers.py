"""Finds code that uses a room above its own, by imports, templates and dotted settings; prints a line for each place.

It also finds services that name a page's request, which only views may read. The rooms and their order are in
`[tool.house]` of pyproject.toml alone. Exit code 1 when something is wrong.
"""

import ast
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import global_settings

ROOT = Path(__file__).resolve().parents[1]
FRAME = "base.html"  # the roof's, around every page
_TAG = re.compile(r"{%\s*(load|include|extends)\s+(.*?)\s*%}", re.DOTALL)
_WORDS = {"load": "loads", "include": "includes", "extends": "extends"}
_TEMPLATE = re.compile(r"[\"']([\w/.-]+\.(?:html|txt))[\"']")
_TEST_FILE, _TESTS = re.compile(r"tests\.(\w+\.)*test_\w+$"), re.compile(r"tests(\.|$)")
# A page's request; the gateway's requests to the upstream have the same name.
_REQUEST = re.compile(r"\b(HttpRequest|StaffRequest|request\.(POST|GET|COOKIES|META|headers|session|user))\b")
_DOTTED = re.compile(r"([a-z_]+)\.[\w.]+")


class House:
    """The rooms of a project, with their order."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.plan: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["house"]
        lines = [line.split(" | ") for line in self.plan["rooms"]]
        self.roof = lines[0][0]
        self.level = {room: number for number, line in enumerate(lines) for room in line}

    def may_use(self, user: str, used: str) -> bool:
        """Whether `used` is this room or stands below it."""
        return user == used or self.level[user] < self.level[used]

    def contracts(self) -> list[dict[str, Any]]:
        """The contracts that import-linter checks."""
        rooms, apart = list(self.level), self.plan["apart"]
        laid_out = [room for room in rooms if room not in self.plan["laid_out_differently"]]
        optional = [" | ".join(f"({name})" for name in line.split(" | ")) for line in self.plan["modules"]]
        return [
            {"name": "Rooms import downwards only", "type": "layers", "layers": self.plan["rooms"]},
            {"name": "Inside a room too", "type": "layers", "containers": laid_out, "layers": optional},
            *(
                {
                    "name": f"Only {user} imports {module}",
                    "type": "forbidden",
                    "source_modules": [room for room in rooms if room not in {user, module.partition(".")[0]}],
                    "forbidden_modules": [module],
                    "allow_indirect_imports": True,
                }
                for module, user in self.plan["private"].items()
            ),
            *(
                {
                    "name": f"{room} {word} no room",
                    "type": "forbidden",
                    "source_modules": users,
                    "forbidden_modules": used,
                }
                for room in apart
                for word, users, used in (("imports", [room], rooms), ("is imported by", rooms, [room]))
            ),
        ]

    def upward_templates(self) -> Iterator[str]:
        """Templates that load tags from above their room, or include or extend a template from there."""
        folder = self.root / "templates"
        libraries = {
            path.stem: path.parts[-3]
            for path in self.root.glob("*/templatetags/*.py")
            if path.parts[-3] in self.level and path.stem != "__init__"
        }
        for path in sorted(folder.rglob("*.*")):
            name = path.relative_to(folder).as_posix()
            for tag, words in _TAG.findall(path.read_text()):
                used = words.split() if tag == "load" else _TEMPLATE.findall(words)
                for what in used:
                    room = libraries.get(what) if tag == "load" else self.room_of(what)
                    if room and not (tag == "extends" and what == FRAME) and not self.may_use(self.room_of(name), room):
                        yield f"templates/{name}: {_WORDS[tag]} {what}, of {room}, which stands above"

    def room_of(self, template: str) -> str:
        """The room that a template belongs to."""
        first = template.split("/", 1)[0]
        return self.plan["templates"].get(first) or (first if first in self.level else self.roof)

    def upward_settings(self, settings: Any) -> Iterator[str]:
        """Reads of a setting that names something of a higher room."""
        named = {
            name: {match[1] for text in _texts(getattr(settings, name)) if (match := _DOTTED.fullmatch(text))}
            for name in dir(settings)
            if name.isupper() and not hasattr(global_settings, name)  # those Django reads itself
        }
        for room in self.level:
            for path in sorted((self.root / room).rglob("*.py")):
                for name in _settings_read(path):
                    for used in sorted(named.get(name, set()) & set(self.level)):
                        if not self.may_use(room, used):
                            yield f"{path.relative_to(self.root)}: settings.{name} names {used}, which stands above"

    def requests_in_services(self) -> Iterator[str]:
        """Services that name a page's request."""
        for room in self.level:
            for path in sorted([*self.root.glob(f"{room}/services.py"), *self.root.glob(f"{room}/services/**/*.py")]):
                if match := _REQUEST.search(path.read_text()):
                    yield f"{path.relative_to(self.root)}: names {match[0]}, which only views read"


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, list | tuple) else []


def _settings_read(path: Path) -> set[str]:
    """The names after `settings.` in a file."""
    return {
        node.attr
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "settings"
    }


def borrowed(root: Path) -> Iterator[str]:
    """Imports from a test file, and benchmarks' imports from any of the tests; helper modules hold shared code."""
    for folder, wrong in (("tests", _TEST_FILE), ("benchmarks", _TESTS)):
        for path in sorted((root / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and wrong.match(node.module or ""):
                    yield f"{path.relative_to(root)}: imports from {node.module}"


def broken_imports(house: House) -> str:
    """import-linter's output about broken contracts; "" when all are kept."""
    lines = ["[tool.importlinter]", f"root_packages = {json.dumps([*house.level, *house.plan['apart']])}"]
    lines += ["exclude_type_checking_imports = true"]
    for contract in house.contracts():
        lines += [
            "[[tool.importlinter.contracts]]",
            *(f"{key} = {json.dumps(value)}" for key, value in contract.items()),
        ]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "contracts.toml"
        config.write_text("\n".join(lines))
        linter = Path(sys.executable).with_name("lint-imports")
        command = [str(linter), "--config", str(config), "--no-cache", "--no-logo"]
        result = subprocess.run(command, cwd=house.root, capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else result.stdout.strip() or result.stderr.strip()


def main() -> int:
    """Print each fault; 1 if there is any."""
    from django.conf import settings  # noqa: PLC0415 - the environment names them

    house = House(ROOT)
    wrong = [*house.upward_templates(), *house.upward_settings(settings), *house.requests_in_services()]
    wrong += borrowed(ROOT)
    if broken := broken_imports(house):
        wrong.append(broken)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
