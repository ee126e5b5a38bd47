"""A change of an app's functions needs a migration that installs them in databases that exist."""

from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LENGTH = 16
# Of each app: the migration that installed its `functions.sql` last, and the checksum of the file.
# Change both together: the migration runs `functions_of`, as posts/migrations/0009_equal_lines.py.
INSTALLED = {
    "accounts": ("0002_functions", "6fe2596507319e24"),
    "accounts/images": ("0003_withheld", "f79289909aaad934"),
    "counters": ("0002_functions", "25f87ca54e35d217"),
    "infra/changes": ("0002_functions", "4338fe3e3b761362"),
    "notifications": ("0005_requests", "5cadb13c21dc5315"),
    "notifications/push": ("0002_functions", "0adef5b25fcf4a29"),
    "operations/moves": ("0002_functions", "9577a0446b56ff6d"),
    "posts": ("0010_waiting_images", "bfc4de8d6dfdcf2a"),
    "posts/scheduled": ("0002_longer_keys", "64cae2719d89c262"),
    "relations": ("0003_languages", "17631b207487550e"),
}


def last_installed(app: str) -> str:
    migrations = sorted((ROOT / app / "migrations").glob("0*.py"))
    return [file.stem for file in migrations if "functions_of(" in file.read_text()][-1]


def test_each_app_with_functions_is_listed() -> None:
    apps = {str(file.parent.relative_to(ROOT)) for file in ROOT.glob("*/functions.sql")}
    apps |= {str(file.parent.relative_to(ROOT)) for file in ROOT.glob("*/*/functions.sql")}
    assert apps == {*INSTALLED}


@pytest.mark.parametrize("app", INSTALLED)
def test_changed_functions_come_with_a_migration(app: str) -> None:
    text = (ROOT / app / "functions.sql").read_bytes()
    assert (last_installed(app), sha256(text).hexdigest()[:LENGTH]) == INSTALLED[app]
