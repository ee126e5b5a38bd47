"""A change of an app's functions needs a migration that installs them in databases that exist."""

from pathlib import Path

import pytest

from lab.accept import functions


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One app whose functions its first migration installed, as recorded."""
    monkeypatch.setattr(functions, "CHECKOUT", tmp_path)
    monkeypatch.setattr(functions, "RECORD", tmp_path / "functions.txt")
    (tmp_path / "tides/migrations").mkdir(parents=True)
    (tmp_path / "tides/functions.sql").write_text("SELECT 1")
    add_migration(tmp_path / "tides", "0001_initial")
    record()
    return tmp_path / "tides"


def add_migration(app: Path, name: str) -> None:
    (app / "migrations" / f"{name}.py").write_text("functions_of(app)")


def record() -> list[str]:
    lines = functions.installed_functions()
    functions.RECORD.write_text("\n".join(lines))
    return lines


def test_a_change_without_a_migration_is_named_and_not_recorded(app: Path) -> None:
    before = record()
    (app / "functions.sql").write_text("SELECT 2")
    assert record() == before
    assert "changed since 0001_initial" in " ".join(functions.changed_after_migration())


def test_a_change_with_a_migration_is_recorded(app: Path) -> None:
    before = record()
    (app / "functions.sql").write_text("SELECT 2")
    add_migration(app, "0002_functions")
    assert [line.split()[1] for line in (*before, *record())] == ["0001_initial", "0002_functions"]
    assert list(functions.changed_after_migration()) == []
