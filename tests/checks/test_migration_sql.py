"""SQL of a new migration that breaks the release before fails the check."""

from pathlib import Path

import pytest
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader

from checks import migration_sql
from checks.migration_sql import faults

NEW = "purchases/migrations/9999_new.py"


@pytest.fixture
def sql(db: None) -> str:
    """Django's SQL for a new column without a default in the database."""
    state = MigrationLoader(None).project_state()
    column = migrations.AddField("order", "weight", models.BigIntegerField(default=0))
    operations = [column, migrations.RemoveField("order", "message")]
    migration = type("Migration", (migrations.Migration,), {"operations": operations})("9999_new", "purchases")
    with connection.schema_editor(collect_sql=True) as editor:
        migration.apply(state, editor, collect_sql=True)
    return "\n".join(editor.collected_sql)


def test_a_migration_that_the_release_before_does_not_survive_fails(
    sql: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(migration_sql, "migrations", lambda _root: {NEW: "", "sandbox/migrations/9999_new.py": ""})
    monkeypatch.setattr(migration_sql, "released", lambda _root: {})
    monkeypatch.setattr(migration_sql, "sql_of_files", lambda paths: dict.fromkeys(paths, sql))

    assert migration_sql.main() == 1

    found = capsys.readouterr().out
    assert f'{NEW}: ALTER TABLE "purchases_order" ADD COLUMN "weight"' in found
    assert "not-null-without-default: the release before inserts rows without it" in found
    assert "ban-drop-column: the release before still uses it" in found
    assert "sandbox" not in found

    # an exception has a reason, and holds for one rule of one migration
    (tmp_path / "accepted.toml").write_text(
        f'[[accepted]]\nmigration = "{NEW}"\nrule = "ban-drop-column"\nreason = "Nobody reads it."\n'
    )
    monkeypatch.setattr(migration_sql, "ACCEPTED", tmp_path / "accepted.toml")
    assert migration_sql.main() == 1
    found = capsys.readouterr().out
    assert "ban-drop-column" not in found
    assert "not-null-without-default" in found


def test_what_a_statement_is_called() -> None:
    for statement, rule in [
        ('ALTER TABLE "a" ADD COLUMN "b" bigint NULL;', ""),
        ('ALTER TABLE "a" ADD COLUMN "b" bigint DEFAULT 0 NOT NULL;', ""),
        ('ALTER TABLE "a" ADD COLUMN "b" bigint NOT NULL;', "adding-required-field"),
        ('ALTER TABLE "a" ALTER COLUMN "b" SET NOT NULL;', "adding-not-nullable-field"),
        ('ALTER TABLE "a" ALTER COLUMN "b" DROP NOT NULL;', "ban-drop-not-null"),
        ('ALTER TABLE "a" ALTER COLUMN "b" TYPE text;', "changing-column-type"),
        ('ALTER TABLE "a" RENAME COLUMN "b" TO "c";', "renaming-column"),
        ('ALTER TABLE "a" RENAME TO "b";', "renaming-table"),
        ('DROP TABLE "a" CASCADE;', "ban-drop-table"),
        ("ALTER TABL;", "syntax-error"),
    ]:
        found = list(faults(statement))

        assert [line for line in found if f"\n    {rule}: " in line] if rule else not found, statement


def test_what_squawk_has_not_read_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration_sql, "OLDEST_POSTGRESQL", "of another notation")

    with pytest.raises(RuntimeError, match="has not read the SQL"):
        list(faults("DROP TABLE purchases_order;"))
