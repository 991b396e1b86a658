"""`python -m checks.migration_sql`: reads the SQL of new migrations with squawk, and refuses what `CHOSEN` names.

A migration is new if `migrations.txt` does not list it. While one machine after the other is upgraded, the release
before sells on the changed tables. So a migration only adds what that release need not know, and removes only what the
release before no longer uses. `migration_sql.toml` lists the findings that we accept, each with its reason.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from checks.migrations import migrations, released
from checks.server import throw_away_server
from launcher import ROOT

DATABASE = "backoffice"
ACCEPTED = Path(__file__).with_name("migration_sql.toml")
OLDEST_POSTGRESQL = "14"
# The rules of squawk that apply here; `OWN` is ours. Squawk's other rules are about types and names that Django
# chooses, or ask for indexes and constraints made without a lock: one takes two seconds for a million orders, and an
# index made without a lock, outside of a transaction, stays invalid when it is cut off.
_OLD_CODE = "the release before still uses it: take it away one release later"
OWN = "not-null-without-default"
CHOSEN = {
    "ban-drop-column": _OLD_CODE,
    "ban-drop-table": _OLD_CODE,
    "renaming-column": _OLD_CODE,
    "renaming-table": _OLD_CODE,
    "ban-drop-not-null": "the release before may read no value where it expects one",
    "adding-required-field": "rows that are there have no value: give it a db_default, or null=True",
    "adding-not-nullable-field": "the release before may write none, and it reads every row under a lock: add a column",
    "changing-column-type": "it rewrites the table under a lock, and the release before writes the former type",
    "adding-field-with-default": "a default that is computed rewrites the table under a lock: write a constant",
    "adding-serial-primary-key-field": "it rewrites the table under a lock",
    "ban-truncate-cascade": "it deletes rows that nobody named",
    "syntax-error": "squawk cannot read it",
    OWN: "the release before inserts rows without it: give it a db_default, or null=True",
}
_DROPS_DEFAULT = re.compile(r'ALTER TABLE "(\w+)" ALTER COLUMN "(\w+)" DROP DEFAULT')
_ADDS_NOT_NULL = 'ALTER TABLE "{}" ADD COLUMN "{}" [^;]*NOT NULL'


def main() -> int:
    """Print the findings in new migrations; 1 when there are any."""
    new = sorted(path for path in migrations(ROOT).keys() - released(ROOT).keys() if not path.startswith("sandbox/"))
    found = []
    for path, text in sql_of_files(new).items():
        found += [f"{path}: {fault}" for fault in faults(text, accepted(path))]
    print("\n".join(found) or f"Nothing against the SQL of {len(new)} new migrations.")
    return 1 if found else 0


def accepted(path: str) -> set[str]:
    """The rules whose findings in this migration are accepted; entries without a reason are left out."""
    rows = tomllib.loads(ACCEPTED.read_text()).get("accepted", [])
    return {row["rule"] for row in rows if row["migration"] == path and row["reason"]}


def faults(text: str, accepted: set[str] | frozenset[str] = frozenset()) -> Iterator[str]:
    """A line for each finding of a chosen rule in the SQL of a migration."""
    for rule, statement in (*found_by_squawk(text), *defaults_that_go(text)):
        if rule in CHOSEN and rule not in accepted:
            yield f"{statement}\n    {rule}: {CHOSEN[rule]}."


def found_by_squawk(text: str) -> Iterator[tuple[str, str]]:
    """The rule and the line of SQL of each finding."""
    command: list[str | Path] = [Path(sys.executable).with_name("squawk"), "--reporter", "json"]
    command += ["--assume-in-transaction", "--pg-version", OLDEST_POSTGRESQL]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if result.returncode not in {0, 1}:  # 1: it has findings
        raise RuntimeError(f"squawk has not read the SQL: {result.stderr.strip()}")
    for row in json.loads(result.stdout or "[]"):
        yield row["rule_name"], text.splitlines()[row["line"]].strip()


def defaults_that_go(text: str) -> Iterator[tuple[str, str]]:
    """NOT NULL columns whose default Django drops right after adding them: old code cannot insert rows then."""
    for match in _DROPS_DEFAULT.finditer(text):
        if added := re.search(_ADDS_NOT_NULL.format(*match.groups()), text):
            yield OWN, added[0]


def sql_of_files(paths: list[str]) -> Mapping[str, str]:
    """The SQL of each of these migrations. Triggers are compiled on a connection, so a throw-away server is started."""
    if not paths:
        return {}
    with throw_away_server(DATABASE) as server:
        os.environ["DATABASE_URL"] = server.url(DATABASE)
        return dict(sql_of(paths))


def sql_of(paths: list[str]) -> Iterator[tuple[str, str]]:
    """Each migration with its SQL, for the database of the settings, which is not changed."""
    import django  # noqa: PLC0415 - once the settings know the server

    django.setup()
    from django.db import connection  # noqa: PLC0415
    from django.db.migrations.loader import MigrationLoader  # noqa: PLC0415

    loader = MigrationLoader(None)
    for path in paths:
        app, _migrations, name = Path(path).with_suffix("").parts
        with connection.schema_editor(collect_sql=True) as editor:
            loader.get_migration(app, name).apply(loader.project_state((app, name), at_end=False), editor, True)
        yield path, "\n".join(editor.collected_sql)


if __name__ == "__main__":
    sys.exit(main())
