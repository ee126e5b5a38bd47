"""The tests that failed in a whole run once more, one after the other: the end of `make test`.

A test that measures time may fail in the crowd of a whole run. It is counted and named here, so
that it gets mended, and the others are not run again for it.
"""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import pytest

CACHE = Path(__file__).parents[1] / ".pytest_cache/v"
# The exit status of a run, for this module.
STATUS_KEY = "tideline/exit_status"
# More than so many failed tests have a common cause.
MOST = 5


def find_failed(cache: Path) -> list[str]:
    """The tests that failed in a run that went through all tests.

    Raises: SystemExit, if there is no such run, or if too many failed.
    """
    status, failed = _read(cache / STATUS_KEY), _read(cache / "cache/lastfailed") or {}
    if status != pytest.ExitCode.TESTS_FAILED or not failed:
        raise SystemExit("the last run of the tests did not end with failed tests")
    if len(failed) > MOST:
        raise SystemExit(f"{len(failed)} tests failed; at most {MOST} are run again")
    return sorted(failed)


def _read(file: Path) -> object:
    return orjson.loads(file.read_bytes()) if file.exists() else None


def run_again(failed: Sequence[str]) -> int:
    """The exit status of a run of these tests alone."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "--", *failed]
    return subprocess.run(command, check=False).returncode


def main(cache: Path = CACHE, run: Callable[[Sequence[str]], int] = run_again) -> int:
    """The exit status of the second run. Raises as `find_failed`."""
    failed = find_failed(cache)
    names = "\n  ".join(failed)
    sys.stderr.write(f"{len(failed)} failed and run again, one after the other:\n  {names}\n")
    status = run(failed)
    end = "passed alone. Mend them" if status == 0 else "failed, and not all of them passed alone"
    sys.stderr.write(f"Of the whole run, {len(failed)} {end}:\n  {names}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
