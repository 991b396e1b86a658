"""A migration of the list may not change; a new one may change until the list has it."""

from pathlib import Path

import pytest

from checks import migrations


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one migration, which is in the list."""
    for folder in ("room/migrations", "checks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / migrations.LIST).touch()
    (tmp_path / "room/migrations/0001_initial.py").write_text("first")
    migrations.add(tmp_path)
    return tmp_path


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_released_migration_that_changed_is_named(root: Path, is_gone: bool, capsys: pytest.CaptureFixture) -> None:
    assert migrations.main(root=root) == 0
    initial = root / "room/migrations/0001_initial.py"
    if is_gone:
        initial.unlink()
    else:
        initial.write_text("another")

    assert migrations.add(root) == 0
    assert migrations.main(root=root) == 1
    assert "room/migrations/0001_initial.py" in capsys.readouterr().out


def test_a_new_migration_is_free_until_it_is_taken_in(root: Path) -> None:
    new = root / "room/migrations/0002_more.py"
    new.write_text("second")
    assert migrations.rewritten(root) == []
    new.write_text("second, otherwise")

    assert migrations.add(root) == 1
    new.write_text("third")

    assert migrations.rewritten(root) == ["room/migrations/0002_more.py"]
