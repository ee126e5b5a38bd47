"""Where the library for another clock comes from."""

import sys
from pathlib import Path

import pytest

from lab.faults.cluster import fake_time
from lab.faults.cluster.fake_time import NoFakeTime, find_fake_time


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the package, empty; the machine itself has no library."""
    package = tmp_path / "libfaketime"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(fake_time, "_MACHINE", (str(tmp_path / "usr"), "*/libfaketime.so.1"))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return package


def test_the_library_of_the_wheel_is_found(wheel: Path) -> None:
    library = wheel / "vendor/libfaketime/src/libfaketime.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    assert find_fake_time() == library


def test_a_wheel_without_a_library_is_as_good_as_none(wheel: Path) -> None:
    with pytest.raises(NoFakeTime, match="apt install faketime"):
        find_fake_time()


def test_the_library_of_the_machine_comes_first(wheel: Path) -> None:
    library = wheel.parent / "usr/x86_64/libfaketime.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    assert find_fake_time() == library
