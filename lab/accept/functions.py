"""The checksums of the functions that migrations installed in databases."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from lab.runner.child import CHECKOUT

RECORD = CHECKOUT / "tests/accepted/functions.txt"
_LENGTH = 16


def installed_functions() -> list[str]:
    """App, the migration that ran its `functions.sql` last, and the checksum of that file.

    A file that changed after its migration keeps its line: `changed_after_migration` names it.
    """
    recorded, lines = _recorded(), []
    for app in _apps():
        line = (last_installed(app), checksum(app))
        is_late = recorded.get(app, line)[0] == line[0]
        lines.append(" ".join((app, *(recorded.get(app, line) if is_late else line))))
    return lines


def changed_after_migration() -> Iterator[str]:
    """Databases that exist would keep the old functions."""
    for app, (migration, known) in _recorded().items():
        if app in _apps() and last_installed(app) == migration and checksum(app) != known:
            yield (
                f"{app}/functions.sql has changed since {migration} installed it: write a migration"
                " that runs functions_of (as posts/migrations/0009_equal_lines.py), or delete its"
                " line in tests/accepted/functions.txt if that migration is in no database yet"
            )


def last_installed(app: str) -> str:
    migrations = sorted((CHECKOUT / app / "migrations").glob("0*.py"))
    return [file.stem for file in migrations if "functions_of(" in file.read_text()][-1]


def checksum(app: str) -> str:
    return sha256((CHECKOUT / app / "functions.sql").read_bytes()).hexdigest()[:_LENGTH]


def _apps() -> list[str]:
    files: list[Path] = [*CHECKOUT.glob("*/functions.sql"), *CHECKOUT.glob("*/*/functions.sql")]
    return sorted(file.parent.relative_to(CHECKOUT).as_posix() for file in files)


def _recorded() -> dict[str, tuple[str, str]]:
    lines = RECORD.read_text().splitlines() if RECORD.is_file() else []
    return {app: (migration, known) for app, migration, known in map(str.split, lines)}
