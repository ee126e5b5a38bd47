"""`manage.py follow_changes`: writes what happens to standard output or to a Redis stream."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from infra.api.errors import TidelineError
from infra.jobs.drive_job import StopRequest
from infra.sharding.errors import NO_ANSWER
from infra.sharding.readiness import refuse_unusable_databases, requiring_ready
from infra.verbs import DocumentedCommand
from integrations.follower import AWAY_S, QUIET_S, EventFollower, find_position
from integrations.queries.events import first_position
from integrations.sinks import EventSink, LineSink, StreamSink
from integrations.types import SitePosition

STREAM_LENGTH = 1_000_000


class Command(DocumentedCommand):
    """Writes the events of the change feed, a JSON line each, or to a Redis stream, until it is
    stopped. With --position-file it goes on where the last run stopped; an event may come twice
    then, and none is left out.

    **When**: a program on this machine shall hear of what happens. It writes a line of JSON for
    each event to standard output, until it is stopped. `--redis URL` writes to a stream there
    instead (`--stream`, `--stream-length`). `--position-file FILE` keeps how far it is; without the
    file it begins now, or at `--after`. `--once` ends when there are no more events. It waits for
    databases and for Redis. **Costs**: a query for each database, four times a second while nothing
    happens. **Stopping it**: killed after it wrote and before it kept the position, it writes the
    same events again.

    ```
    $ manage.py follow_changes --position-file /var/lib/tideline/index.position
    {"id":"shard2-5120","type":"post.created","timestamp":"2026-11-27T18:00:00.123456+00:00","data":{…}}
    ```
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--after", metavar="POSITION", help="a position, or `oldest`; default: now"
        )
        parser.add_argument(
            "--position-file", type=Path, metavar="FILE", help="keeps the position from run to run"
        )
        parser.add_argument("--once", action="store_true", help="end when there are no more events")
        parser.add_argument("--redis", metavar="URL", help="write to a stream of this Redis")
        parser.add_argument("--stream", default="tideline", help="its name; default: tideline")
        parser.add_argument(
            "--stream-length",
            type=int,
            default=STREAM_LENGTH,
            metavar="N",
            help=f"about how many events the stream keeps; default: {STREAM_LENGTH:,}",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        stopping = StopRequest()
        try:
            with stopping.on_signals(), requiring_ready():
                refuse_unusable_databases()
                after = _first_position(options["after"], options["position_file"])
                sink = _sink(self, options)
                follower = EventFollower(after, sink, options["position_file"], self.stderr.write)
                _follow(follower, options["once"], stopping)
        except (TidelineError, *NO_ANSWER, OSError) as error:
            raise CommandError(str(error)) from None


def _follow(follower: EventFollower, is_once: bool, stopping: StopRequest) -> None:
    """Until it is stopped; with `is_once` until there are no more events."""
    while not stopping.is_requested:
        wait_s = follower.step()
        if is_once and wait_s == QUIET_S:
            return
        stopping.pause(AWAY_S if wait_s is None else wait_s)


def _first_position(after: str | None, file: Path | None) -> SitePosition:
    """The file's, if there is one. Raises: OSError, PositionInvalid."""
    kept = None if file is None else find_position(file)
    return first_position(after) if kept is None else kept


def _sink(command: DocumentedCommand, options: Any) -> EventSink:
    if options["redis"] is None:
        return LineSink(command.stdout)  # type: ignore[arg-type]
    return StreamSink(options["redis"], options["stream"], options["stream_length"])
