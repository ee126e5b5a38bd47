"""Which processes differ from the others. Pure.

What a process has that all others must have too: a digest or a text for each fact.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from statistics import median
from typing import NamedTuple

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


# Records of polls and the index by author take the clock of web processes.
MOST_SKEW_S = 1.0
CLOCK = "clock"


class Process(NamedTuple):
    """`clock_s`: how far its clock is ahead of that of Redis; None until it is measured."""

    facts: Mapping[str, str]
    clock_s: float | None = None


class Difference(NamedTuple):
    """`names`: of the processes that have something else than most others."""

    fact: str
    names: Sequence[str]

    @property
    def is_fault(self) -> bool:
        """Whether it is wrong at any time. Releases differ while one replaces the other."""
        return self.fact not in OF_RELEASES

    def __str__(self) -> str:
        return f"{', '.join(self.names)}: another {FACTS.get(self.fact, self.fact)} than the others"


def find_differences(processes: Mapping[str, Process]) -> list[Difference]:
    """What differs, by fact. With as many processes on each side, the later names are named."""
    return [*_facts(processes), *_clocks(processes)]


def _facts(processes: Mapping[str, Process]) -> Iterator[Difference]:
    for fact in FACTS:
        names: defaultdict[str | None, list[str]] = defaultdict(list)
        for name, process in sorted(processes.items()):
            names[process.facts.get(fact)].append(name)
        usual = max(names.values(), key=len, default=[])
        if others := sorted({*processes} - {*usual}):
            yield Difference(fact, others)


def _clocks(processes: Mapping[str, Process]) -> Iterator[Difference]:
    clocks = {name: each.clock_s for name, each in processes.items() if each.clock_s is not None}
    usual = median(clocks.values()) if clocks else 0.0
    off = sorted(name for name, clock_s in clocks.items() if abs(clock_s - usual) > MOST_SKEW_S)
    if off:
        yield Difference(CLOCK, off)
