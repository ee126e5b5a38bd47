"""A Chromium of the project's own: an archive of the npm registry, unpacked in the checkout.

It carries the libraries and fonts it needs. Nothing is run that does not have the digest below. The
browsers of `playwright install` come from hosts that networks which let registries through may not.
"""

import base64
import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import IO

import brotli

from lab.services.locks import locked

VERSION = "153.0.0"
# As the registry has it: npm view @sparticuz/chromium@VERSION dist.integrity
SHA512 = "jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA=="
CHECKOUT = Path(__file__).resolve().parents[2]
CACHE = CHECKOUT / ".browser"
FOLDER = CACHE / VERSION
PROGRAM = FOLDER / "chromium"
# What is needed of the archive, by the name it is unpacked from.
PARTS = ("package/bin/chromium.br", "package/bin/al2023.tar.br", "package/bin/fonts.tar.br")
# No font of the machine: the width of a text would depend on it.
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fonts</cachedir>
</fontconfig>
"""
PIECE_BYTES = 2**20
PATIENCE_S = 60
# As long as somebody else may take to download it.
LONGEST_S = 600
TICK_S = 2


class WrongDigest(Exception):
    """What the registry sent is not the archive that was pinned. Look before you pin it anew."""


def ensure_pinned() -> None:
    """Downloads and unpacks it unless that is done: 70 MB, 6 s; two at once take turns.

    Raises OSError when the registry cannot be reached, WrongDigest.
    """
    CACHE.mkdir(exist_ok=True)
    with locked(CACHE / "lock", LONGEST_S):
        if not FOLDER.exists():
            _install()
        (FOLDER / "fonts.conf").write_text(FONTS)


def environment() -> dict[str, str]:
    """What it needs on top of its surroundings: its libraries and its fonts."""
    return {
        "LD_LIBRARY_PATH": str(FOLDER / "lib"),
        "FONTCONFIG_FILE": str(FOLDER / "fonts.conf"),
        # Where fonts.conf has its cache: it knows no place relative to itself for that.
        "XDG_CACHE_HOME": str(FOLDER / "cache"),
    }


def _install() -> None:
    """The folder gets its name once it is whole: who dies on the way leaves no half."""
    made = CACHE / "unpacking"
    shutil.rmtree(made, ignore_errors=True)
    with tempfile.TemporaryFile() as archive:
        _download(archive)
        made.mkdir()
        _unpack(archive, made)
    made.rename(FOLDER)


def _download(archive: IO[bytes]) -> None:
    digest, progress = hashlib.sha512(), Progress("downloading Chromium")
    with urllib.request.urlopen(_address(), timeout=PATIENCE_S) as answer:
        whole = int(answer.headers.get("Content-Length") or 0)
        while piece := answer.read(PIECE_BYTES):
            digest.update(piece)
            archive.write(piece)
            progress.tell(archive.tell(), whole)
    if base64.b64encode(digest.digest()).decode() != SHA512:
        raise WrongDigest(_address())


def _address() -> str:
    """At the registry npm would ask, where a mirror is set."""
    registry = os.environ.get("NPM_CONFIG_REGISTRY") or "https://registry.npmjs.org"
    return f"{registry.rstrip('/')}/@sparticuz/chromium/-/chromium-{VERSION}.tgz"


def _unpack(archive: IO[bytes], folder: Path) -> None:
    archive.seek(0)
    progress = Progress("unpacking Chromium")
    with tarfile.open(fileobj=archive, mode="r:gz") as opened:
        for part in PARTS:
            target = folder / Path(part).stem
            _expand(opened.extractfile(part), target, progress)
            if target.suffix == ".tar":
                _spread(target, folder)
    (folder / PROGRAM.name).chmod(0o755)


def _expand(packed: IO[bytes], target: Path, progress: "Progress") -> None:
    unpacker = brotli.Decompressor()
    with target.open("wb") as file:
        while piece := packed.read(PIECE_BYTES):
            file.write(unpacker.process(piece))
            progress.tell(file.tell())
    assert unpacker.is_finished(), target


def _spread(packed: Path, folder: Path) -> None:
    with tarfile.open(packed) as opened:
        for member in filter(tarfile.TarInfo.isfile, opened):
            target = folder / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(opened.extractfile(member).read())
    packed.unlink()


class Progress:
    """Says every two seconds how far it is."""

    def __init__(self, what: str) -> None:
        self._what, self._next_s = what, 0.0

    def tell(self, done_bytes: int, whole_bytes: int = 0) -> None:
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + TICK_S
        whole = f" of {whole_bytes // 2**20}" if whole_bytes else ""
        sys.stdout.write(f"  {self._what}: {done_bytes // 2**20}{whole} MB\n")
        sys.stdout.flush()
