"""Reports the facts of this process to Redis every few seconds, and logs when it differs.

processes.reports:v1:{all}   hash: name -> time of Redis in ms, a colon, JSON ProcessReport

Which processes differ from the others. Pure.

What a process has that all others must have too: a digest or a text for each fact.
"""

import os
import socket
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from statistics import median
from typing import NamedTuple

import msgspec
import structlog
from django.conf import settings
from redis.exceptions import RedisError

from infra.background import BackgroundThread
from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.scripts import load_script
from infra.sharding.readiness import schema_of_code
from infra.telemetry.gauges import process_gauge
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


EVERY_S = 5.0
# A process that reported nothing for so long has ended.
GONE_MS = 15_000
# A slower answer says little about clocks.
MOST_TRIP_S = 0.5
REPORTS = key("processes.reports:v1", "all")
REPORT = load_script(Path(__file__).with_name("lua") / "report.lua")
CLOCK_OFFSET = process_gauge(
    "tideline_clock_offset_seconds",
    "How far a clock is from that of Redis, of the process that is furthest",
)
PROCESS_FACTS = process_gauge(
    "tideline_process_facts",
    (
        "Processes by what all must have in common: `secret_key`, `public_url`, `media_url`, "
        "`version`, `code`, `schema`"
    ),
    ["fact", "value"],
    combine="sum",
)
log = structlog.get_logger()


class ProcessReport(msgspec.Struct):
    """What a process says of itself."""

    facts: dict[str, str]
    clock_s: float | None = None


_decoder = msgspec.json.Decoder(ProcessReport)


class ProcessReporter(BackgroundThread):
    """One per process. A forked process has a name and reports of its own."""

    name = "process-reporter"

    def reset(self) -> None:
        super().reset()
        self._role = ""
        self._clock_s: float | None = None
        self._logged: Sequence[Difference] = ()

    def report(self, role: str) -> None:
        """Begins to report this process. A second call changes nothing."""
        if not self._role:
            self._role = role
            for fact, value in read_fingerprint().items():
                PROCESS_FACTS.labels(fact, value).set(1)
            self.start()

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                self._log(find_differences(self._exchange()))
            except RedisError as error:
                log.debug("process.not_reported", error=str(error))
            self.stopped.wait(EVERY_S)

    def _exchange(self) -> dict[str, Process]:
        """Reports this process; returns all. One round trip. Raises: RedisError."""
        report = msgspec.json.encode(ProcessReport(read_fingerprint(), self._clock_s))
        began_s = time.time()
        now_ms, processes = _run(self._name, report)
        took_s = time.time() - began_s
        if took_s < MOST_TRIP_S:
            clock_s = round(began_s + took_s / 2 - now_ms / 1_000, 3)
            self._clock_s = clock_s
            CLOCK_OFFSET.set(abs(clock_s))
        return processes

    @property
    def _name(self) -> str:
        return f"{self._role} {socket.gethostname()}:{os.getpid()}"

    def _log(self, differences: Sequence[Difference]) -> None:
        """An error for each difference of this process, when it is noticed."""
        own = [each for each in differences if self._name in each.names]
        for difference in own:
            if difference not in self._logged:
                log.error("process.differs", fact=difference.fact, processes=difference.names)
        self._logged = own


def list_processes() -> dict[str, Process]:
    """All processes that reported lately. One round trip. Raises: RedisError."""
    return _run("", b"")[1]


def _run(name: str, report: bytes) -> tuple[int, dict[str, Process]]:
    """The time of Redis in ms, and all processes. Reports that cannot be read are left out."""
    ((now_ms, raw),) = redis().run([REPORT.on([REPORTS], name, report, GONE_MS)])
    decoded = (
        (each.decode(), _decode(data)) for each, data in zip(raw[::2], raw[1::2], strict=True)
    )
    return now_ms, {each: process for each, process in decoded if process is not None}


def _decode(raw: bytes) -> Process | None:
    try:
        report = _decoder.decode(raw)
    except msgspec.DecodeError:
        return None
    return Process(report.facts, report.clock_s)


REPORTER = ProcessReporter()
