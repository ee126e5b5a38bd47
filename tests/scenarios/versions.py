"""Two throw-away versions of Tideline, as tags of a throw-away repository.

The first is this checkout with what is not committed yet. The second is made as a released version
is made (decision 0076): one more migration, with a column and the whole text of a changed function.
"""

import re
import shutil
import subprocess
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

from lab.runner.child import CHECKOUT

NEXT = "9.9.9"
# Every write of an account calls it. The old one only locks.
FUNCTION = """
CREATE OR REPLACE FUNCTION accounts_lock(account bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE accounts_account SET write_count = write_count + 1 WHERE id = account;
    RETURN FOUND;
END $$;
"""
COLUMN = "ALTER TABLE accounts_account ADD COLUMN write_count bigint NOT NULL DEFAULT 0;\n"
MIGRATION = '''"""Counts the writes of each account."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "{before}")]
    operations = [
        migrations.RunSQL(
            Path(__file__).with_suffix(".sql").read_text(),
            migrations.RunSQL.noop,
            hints={{"placement": "sharded"}},
        )
    ]
'''


class Versions(NamedTuple):
    """The folders of both, next to each other."""

    old: Path
    new: Path


def make_versions(folder: Path) -> Versions:
    """Commits and tags both versions in `folder`, and checks each out. Cost: 3 s."""
    repository = folder / "repository"
    _copy_checkout(repository)
    _git(repository, "init", "--quiet")
    _tag(repository, "old")
    _change(repository)
    _tag(repository, "new")
    return Versions(_checked_out(repository, "old"), _checked_out(repository, "new"))


def _copy_checkout(target: Path) -> None:
    for name in _git(CHECKOUT, "ls-files", "--cached", "-z").split("\0"):
        if name and not name.startswith(("tests/", "docs/")) and (CHECKOUT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, target / name)


def _change(checkout: Path) -> None:
    """Makes the second version of the first."""
    version = checkout / "infra/version.py"
    version.write_text(re.sub(r'VERSION = ".*"', f'VERSION = "{NEXT}"', version.read_text()))
    migrations = checkout / "accounts/migrations"
    last = max(file.stem for file in migrations.glob("[0-9]*.py"))
    added = migrations / f"{int(last[:4]) + 1:04}_write_counts.py"
    added.write_text(MIGRATION.format(before=last))
    added.with_suffix(".sql").write_text(COLUMN + FUNCTION)


def _tag(repository: Path, name: str) -> None:
    person = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    _git(repository, "add", "--all", "--force")
    _git(repository, *person, "commit", "--quiet", "--no-verify", "--message", name)
    _git(repository, "tag", name)


def _checked_out(repository: Path, tag: str) -> Path:
    folder = repository.with_name(tag)
    _git(repository, "worktree", "add", "--quiet", str(folder), tag)
    for module in folder.rglob("*.py"):
        _share_compiled(CHECKOUT / module.relative_to(folder), module)
    return folder


def _share_compiled(ours: Path, theirs: Path) -> None:
    """Python compiles a module once for each time of its last change, here for two versions."""
    compiled = Path(cache_from_source(str(ours)))
    if compiled.exists() and ours.read_bytes() == theirs.read_bytes():
        shutil.copystat(ours, theirs)
        Path(cache_from_source(str(theirs))).parent.mkdir(exist_ok=True)
        shutil.copy2(compiled, cache_from_source(str(theirs)))


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
