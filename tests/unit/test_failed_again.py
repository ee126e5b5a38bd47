"""Which tests are run again after a run that failed."""

from pathlib import Path

import orjson
import pytest

from tests.failed_again import MOST, STATUS_KEY, find_failed, main


def cache_of(folder: Path, status: int | None, failed: list[str]) -> Path:
    for name, value in ((STATUS_KEY, status), ("cache/lastfailed", dict.fromkeys(failed, True))):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(orjson.dumps(value))
    return folder


def test_few_failed_tests_are_run_again(tmp_path: Path) -> None:
    cache = cache_of(tmp_path, pytest.ExitCode.TESTS_FAILED, ["b.py::test", "a.py::test[1 2]"])
    assert find_failed(cache) == ["a.py::test[1 2]", "b.py::test"]


@pytest.mark.parametrize("status", [None, *set(pytest.ExitCode) - {pytest.ExitCode.TESTS_FAILED}])
def test_a_run_that_did_not_go_through_is_not_repeated(tmp_path: Path, status: int | None) -> None:
    with pytest.raises(SystemExit, match="did not end with failed tests"):
        find_failed(cache_of(tmp_path, status, ["a.py::test"]))


def test_many_failed_tests_or_none_are_not_repeated(tmp_path: Path) -> None:
    many = [f"a.py::test_{n}" for n in range(MOST + 1)]
    with pytest.raises(SystemExit, match="at most 5 are run again"):
        find_failed(cache_of(tmp_path, pytest.ExitCode.TESTS_FAILED, many))
    with pytest.raises(SystemExit, match="did not end with failed tests"):
        find_failed(cache_of(tmp_path, pytest.ExitCode.TESTS_FAILED, []))
    with pytest.raises(SystemExit, match="did not end with failed tests"):
        find_failed(tmp_path / "nothing")


@pytest.mark.parametrize("status", [0, 1, 2])
def test_the_end_of_the_run_is_that_of_the_second_one_and_names_the_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    cache = cache_of(tmp_path, pytest.ExitCode.TESTS_FAILED, ["b.py::test", "a.py::test"])
    assert main(cache, lambda failed: status) == status
    last = capsys.readouterr().err.split("Of the whole run, ")[1]
    assert last.startswith("2 passed alone" if status == 0 else "2 failed")
    assert "a.py::test\n  b.py::test" in last
