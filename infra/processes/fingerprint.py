"""What a process has that all others must have too: a digest or a text for each fact."""

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

from django.conf import settings

from infra.sharding.readiness import schema_of_code
from infra.version import VERSION

# How each fact is named to people. Of a rolling upgrade the last three differ for a while.
FACTS = {
    "secret_key": "SECRET_KEY",
    "public_url": "PUBLIC_URL",
    "media_url": "MEDIA_URL",
    "version": "version",
    "code": "code",
    "schema": "schema version",
}
OF_RELEASES = frozenset({"version", "code", "schema"})
_BYTES = 6


@cache
def read_fingerprint() -> dict[str, str]:
    """The facts of this process by name. A digest of the secret says nothing about it.

    Cost: the sizes of two thousand files, once in a process.
    """
    return {
        "secret_key": _digest("secret key", settings.SECRET_KEY),
        "public_url": settings.PUBLIC_URL,
        "media_url": settings.MEDIA_URL,
        "version": VERSION,
        "code": _digest(*_files(Path(settings.BASE_DIR))),
        "schema": _digest(*schema_of_code()),
    }


def _files(base: Path) -> Iterator[str]:
    """Names and sizes of the files that run: an edit rarely leaves all sizes as they were."""
    apps = sorted({name.partition(".")[0] for name in settings.INSTALLED_APPS})
    for folder in filter(Path.is_dir, (base / app for app in apps)):
        for file in sorted(folder.rglob("*.*")):
            if file.suffix in (".py", ".sql", ".lua", ".html"):
                yield f"{file.relative_to(base)} {file.stat().st_size}"


def _digest(*texts: str) -> str:
    return blake2b("\n".join(texts).encode(), digest_size=_BYTES).hexdigest()
