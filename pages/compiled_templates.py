"""Compiled templates on disk: the next process reads them instead of compiling all of them again.

Compiling takes half a second for each language, reading 0.02 s.
"""

import marshal
import os
import stat
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import django
import jinja2
from django.conf import settings
from jinja2.bccache import Bucket, BytecodeCache

# What a template is compiled with, next to its source. A constant that goes through a filter is
# replaced by its value then.
COMPILED_BY = (
    "template_code.py", "template_environment.py", "template_filters.py", "translated_templates.py",
)  # fmt: skip
_SEAL = sha256().digest_size
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class CompiledTemplates(BytecodeCache):
    """Those of one language, in a folder that only this user may write: they are run.

    They are left alone when their source, the translations or the compiler have changed, and when a
    machine that stopped left a file half written.
    """

    def __init__(self, folder: Path, language: str) -> None:
        self._folder, self._language = folder, language
        self._version = _version_of_compiler(language)

    def get_source_checksum(self, source: str) -> str:
        return sha256(self._version + source.encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            stored = self._path(bucket).read_bytes()
            code = stored[_SEAL:]
            if stored[:_SEAL] == _seal(bucket, code):
                bucket.code = marshal.loads(code)  # noqa: S302  # nosec B302

    def dump_bytecode(self, bucket: Bucket) -> None:
        """A disk that is full or read-only costs only time."""
        path, code = self._path(bucket), marshal.dumps(bucket.code)
        written = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            written.write_bytes(_seal(bucket, code) + code)
            written.replace(path)

    def _path(self, bucket: Bucket) -> Path:
        return self._folder / f"{self._language}-{bucket.key}.code"


def _seal(bucket: Bucket, code: bytes) -> bytes:
    return sha256(bucket.checksum.encode() + code).digest()


def compiled_templates(language: str) -> CompiledTemplates | None:
    """None: the folder cannot be made, or somebody else could write to it."""
    folder = Path(settings.RUNTIME_DIR) / "templates"
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_private(folder.parent) and _is_private(folder):
            return CompiledTemplates(folder, language)
    return None


def _is_private(folder: Path) -> bool:
    status = folder.lstat()
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return is_own and not status.st_mode & _OTHERS_MAY_WRITE


def _version_of_compiler(language: str) -> bytes:
    digest = sha256(f"{sys.version} {jinja2.__version__} {django.__version__}".encode())
    code = [Path(__file__).parent / name for name in COMPILED_BY]
    translations = sorted(Path(settings.LOCALE_PATHS[0]).glob(f"{language}/**/*.mo"))
    for path in [*code, *translations]:
        digest.update(path.read_bytes())
    return digest.digest()
