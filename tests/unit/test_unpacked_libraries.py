"""Programs of unpacked packages find their own libraries, and none of other packages."""

from pathlib import Path

import pytest

from tests import distribution


def test_a_package_gets_no_library_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pgbouncer is that of a newer distribution, with its own C library: nginx does not run on it,
    and all tests with nginx were skipped."""
    monkeypatch.setattr(distribution, "CACHE", tmp_path)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    folders = {name: tmp_path / name / "usr/lib/x86_64-linux-gnu" for name in ("nginx", "other")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    assert distribution.library_path("nginx", "absent") == str(folders["nginx"])
