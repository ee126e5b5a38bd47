"""Reports the facts of this process to Redis every few seconds, and logs when it differs.

processes.reports:v1:{all}   hash: name -> time of Redis in ms, a colon, JSON ProcessReport
"""

import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import structlog
from redis.exceptions import RedisError

from infra.background import BackgroundThread
from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.scripts import load_script
from infra.processes.differences import Difference, Process, find_differences, read_fingerprint
from infra.telemetry.gauges import process_gauge

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
