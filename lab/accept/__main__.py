"""Writes all recorded facts as the code has them, and shows what changed: `make accept`.

With `--check` it writes nothing, names the files that differ, and exits with 1 if there are any.
Cost: 10 s, without a server.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import django

from lab.runner.child import CHECKOUT

SHOWN_WHOLE = "tests/accepted"


def main(argv: list[str]) -> int:
    django.setup()
    from lab.accept.facts import facts  # noqa: PLC0415 - needs Django
    from lab.accept.undecided import undecided  # noqa: PLC0415

    stale = {path: new for path, new in facts().items() if not _is(path, new)}
    if "--check" in argv:
        lines = [f"{_name(path)} is not as the code is: run make accept" for path in stale]
        lines += undecided()
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return 1 if lines else 0
    for path, content in stale.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    _show(stale)
    sys.stdout.writelines(f"to decide: {line}\n" for line in undecided())
    return 0


def _is(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _show(written: Iterable[Path]) -> None:
    """What differs from the last commit, new files too: the records line by line."""
    names = [_name(path) for path in written]
    print("\n".join(names) or "nothing changed", flush=True)
    git = shutil.which("git")
    if names and git and (CHECKOUT / ".git").exists():
        for words in (
            ["add", "--intent-to-add", "--", *names],
            ["--no-pager", "diff", "HEAD", "--stat", "--", *names],
            ["--no-pager", "diff", "HEAD", "--unified=0", "--", SHOWN_WHOLE],
        ):
            subprocess.run([git, *words], cwd=CHECKOUT, check=False)


def _name(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


if __name__ == "__main__":
    os.environ.setdefault("DEVELOPMENT", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(main(sys.argv[1:]))
