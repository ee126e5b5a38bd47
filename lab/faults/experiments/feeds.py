"""Subscribers of the change feed: one that loses what it accepted, and one that comes too late."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.heal_and_drain import heal_and_drain
from lab.faults.load.connection import ClientConnection
from lab.faults.load.stream import wait_for
from lab.runner.port import HOST

CALLS_PER_S, PART_S, ARRIVED_WITHIN_S = 20.0, 2.0, 20.0
ONLY_POSTS = {"post": 1}
CREATED, SHARD = "post.created", "shard0"
# Readers around the edge: so many posts of one shard are a microsecond apart.
EDGE_POSTS, PAGE = 9, 40


class ForgetfulReceiver:
    """A receiver of webhooks. It answers 200 to all, and keeps the ids of events unless it
    `is_losing`."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.lost: list[str] = []
        self.is_losing = False

    def take(self, event_id: str) -> None:
        (self.lost if self.is_losing else self.kept).append(event_id)


@contextmanager
def receiving(receiver: ForgetfulReceiver) -> Iterator[str]:
    """Its address, during the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            receiver.take(self.headers["webhook-id"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _lose_messages(scene: Scene) -> None:
    """A webhook's receiver answers 200 and loses the messages of two seconds. Redelivery of this
    span brings them back: it has the event of each change that the rows have."""
    receiver, since = ForgetfulReceiver(), _now()
    load = scene.make_load(scene.accounts, CALLS_PER_S, ONLY_POSTS)
    with receiving(receiver) as url:
        webhook = _words(scene, "webhooks", "create", url, "--type", CREATED)["id"]
        with load.running():
            time.sleep(PART_S)
            with scene.broken():
                began, receiver.is_losing = _now(), True
                time.sleep(PART_S)
                receiver.is_losing, ended = False, _now()
            time.sleep(PART_S)
        scene.judge_too(load)
        heal_and_drain(scene.cluster)
        rows = {*scene.cluster.backstage.ask({"do": "created", "with": {"since": since}})}
        have_all = wait_for(lambda: {*receiver.kept, *receiver.lost} >= rows, ARRIVED_WITHIN_S)
        scene.check(have_all, "all events were sent", len(rows))
        missing = rows - {*receiver.kept}
        scene.check_happened(bool(missing), "the receiver accepted and lost events", len(missing))
        # An event may be sent a moment after it happened, so the span begins and ends wider.
        again = ("--since", _moved(began, -PART_S), "--until", _moved(ended, PART_S))
        sent = scene.cluster.attempt("webhooks", "redeliver", webhook, *again)
        scene.check(sent.returncode == 0, "webhooks redeliver succeeds", sent.stderr[-400:])
        scene.note(f"{len(rows)} events, {len(missing)} lost and redelivered")
        kept = {*receiver.kept}
        scene.check(kept == rows, "the receiver has the event of each row", (kept ^ rows))
        _words(scene, "webhooks", "update", webhook, "--delete")


def _come_too_late(scene: Scene) -> None:
    """Readers whose last change is a microsecond apart, around the edge of what is kept: each gets
    all changes behind its position, or learns that it is too old."""
    since, writer = _now(), _session_on(scene, SHARD)
    for number in range(EDGE_POSTS):
        writer.post(f"number {number}")
    heal_and_drain(scene.cluster)
    token = _words(scene, "services", "create", f"reader {scene.seed}")["token"]
    with scene.broken():
        order = {"alias": SHARD, "since": since}
        aged = scene.cluster.backstage.ask({"do": "age_created", "with": order})
        dropped = scene.cluster.backstage.ask({"do": "drop_days", "with": None})
    scene.check_happened(dropped > 0, "rows older than the edge were dropped", dropped)
    reader = ClientConnection(0, token, scene.balancer, 10.0)
    for number, row in enumerate(aged):
        behind = [other["id"] for other in aged[number + 1 :]]
        answer = _read_all(reader, row["position"])
        wanted = behind if row["is_kept"] else "position_too_old"
        where = number - len(aged) // 2
        scene.check(answer == wanted, f"{where:+} us from the edge: {_told(wanted)}", answer)
    scene.note(f"{len(aged)} readers a microsecond apart; {dropped} rows dropped")


def _read_all(reader: ClientConnection, position: str) -> Any:
    """The ids of all events of new posts of the shard behind the position, or the error's code."""
    events: list[str] = []
    while True:
        answer = reader.get("/api/v1/services/events", after=position, limit=PAGE)
        if not answer.is_ok:
            return answer.body.get("code", answer.status) if answer.body else answer.status
        events += [
            event["id"]
            for event in answer.body["events"]
            if event["type"] == CREATED and event["id"].startswith(f"{SHARD}-")
        ]
        position = answer.body["position"]
        if not answer.body["has_more"]:
            return events


def _told(wanted: Any) -> str:
    return wanted if isinstance(wanted, str) else f"{len(wanted)} events"


def _session_on(scene: Scene, alias: str) -> Any:
    return next(session for session in scene.load.sessions if session.person.alias == alias)


def _words(scene: Scene, *words: str) -> dict[str, str]:
    """What a command prints: a name and a value in each line. Raises CalledProcessError."""
    done = scene.cluster.attempt(*words)
    done.check_returncode()
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _moved(moment: str, seconds: float) -> str:
    at = datetime.fromisoformat(moment).timestamp() + seconds
    return datetime.fromtimestamp(at, UTC).isoformat()


FEEDS = [
    Experiment("F50", "a receiver of webhooks answers 200 and loses events", _lose_messages),
    Experiment("F51", "readers of the change feed come at the edge", _come_too_late),
]
