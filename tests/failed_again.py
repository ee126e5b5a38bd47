"""`make test-failed`: the tests that failed in the last run once more, one after the other.

CI runs it after a failed `make test`. A test that measures time may fail in the crowd of a whole
run. It is reported here, so that it gets mended, and the others are not run again for it.
"""

import subprocess
import sys
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


def main() -> int:
    failed = find_failed(CACHE)
    names = "\n  ".join(failed)
    sys.stderr.write(f"These tests failed and are run again, one after the other:\n  {names}\n")
    command = [sys.executable, "-m", "pytest", "-n", "0", "--", *failed]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
