"""The line of a call holds all of it, and its defaults cost nothing.

Figures of a load: percentiles, errors and the time until the last error.

Clients of streams: what they take from the bytes, and what came twice without a reason.

What the runner keeps of an experiment that broke.
"""

import http.server
import json
import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.faults import evidence, runner
from lab.faults.experiments.listeners import MENTION, UPDATE, wrong_repeats
from lab.faults.experiments.types import Experiment, ExperimentResult, ExperimentSkipped
from lab.faults.history.calls import (
    ClientCall,
    Seen,
    from_line,
    outcome_of,
    read_calls,
    to_line,
    write_calls,
)
from lab.faults.load.figures import Timing, between, figures, recovery_s
from lab.faults.load.stream import HeardEvent, StreamClient, listening
from lab.runner.redis_cluster import wait_until

ids = st.integers(0, 2**70)
entries = st.builds(Seen, ids, ids, ids, st.none() | ids)
calls = st.builds(
    ClientCall,
    client=st.integers(0, 99),
    account=ids,
    kind=st.sampled_from(["post", "follow", "home"]),
    began_s=st.floats(0, 1e6),
    ended_s=st.floats(0, 1e6),
    outcome=st.sampled_from(["ok", "failed", "unknown"]),
    status=st.integers(0, 599),
    target=st.none() | ids,
    made=st.none() | ids,
    key=st.text(),
    max_id=st.none() | ids,
    min_id=st.none() | ids,
    is_last=st.booleans(),
    seen=st.lists(entries).map(tuple),
    facts=st.dictionaries(st.text(), st.integers()),
)


@given(calls)
def test_a_line_holds_the_whole_call(call: ClientCall) -> None:
    assert from_line(to_line(call)) == call
    assert "\n" not in to_line(call)


def test_an_incomplete_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    call = ClientCall(1, 2, "post", 0.0, 0.0, "ok", 200, made=5)
    write_calls(path, [call, call])
    path.write_text(path.read_text() + to_line(call)[:20])
    assert list(read_calls(path)) == [call, call]


def test_an_answer_of_the_server_s_failure_proves_nothing() -> None:
    statuses = (200, 404, 429, 500, 503, 0)
    expected = ["ok", "failed", "failed", "unknown", "unknown", "unknown"]
    assert [outcome_of(status) for status in statuses] == expected


def timing(began_s: float, took_s: float, status: int = 200, alias: str = "shard0") -> Timing:
    return Timing(1, alias, "home", began_s, began_s, began_s + took_s, status)


def test_figures_count_errors_and_take_percentiles():
    found = figures([timing(n, 0.001 * n) for n in range(1, 100)] + [timing(1, 5, 503)])
    assert found.calls == 100
    assert found.errors == {503: 1}
    assert round(found.p50_ms) == 51
    assert round(found.p99_ms) == 5000
    assert found.longest_s == 5


def test_figures_of_nothing_are_zero():
    assert figures([]).text() == "0 calls, no error, p50 0 ms, p99 0 ms, longest 0.0 s"


def test_refused_call_is_no_error():
    assert not timing(1, 1, 403).is_error
    assert timing(1, 1, 0).is_error


def test_calls_are_chosen_by_their_begin_and_shard():
    timings = [timing(1, 9), timing(2, 1, alias="shard1"), timing(3, 1)]
    assert between(timings, 1, 3, {"shard0"}) == [timings[0]]


def test_recovery_ends_with_the_last_error_that_began_after_the_heal():
    timings = [timing(1, 100, 503), timing(11, 1, 503), timing(14, 2, 503), timing(20, 1)]
    assert recovery_s(timings, 10) == 6
    assert recovery_s(timings[3:], 10) == 0


def event(position: str, entity: str) -> bytes:
    return f'event: update\ndata: {{"id":"{entity}"}}\nid: {position}\n\n'.encode()


@contextmanager
def serving(bodies: Sequence[bytes]) -> Iterator[tuple[int, list[str]]]:
    """Each connection gets the next body and ends. The port, and the positions that came."""
    came: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came.append(self.headers.get("Last-Event-ID", ""))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(bodies[min(len(came), len(bodies)) - 1])

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port, came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_event_that_is_not_whole_is_forgotten_and_asked_for_again() -> None:
    begin = b"retry: 1000\nid: p0\n\n" + event("p1", "7")
    resumed = b'event: resume\ndata: {"outcome":"replayed"}\nid: p1\n\n' + event("p2", "8")
    with serving([begin + event("p2", "8")[:-5], resumed]) as (port, came):
        client = StreamClient(port, "token", random.Random(1))
        with listening([client]):
            wait_until(lambda: len(came) > 2)
    assert came[:2] == ["", "p1"]
    assert client.entities(UPDATE)[:2] == ["7", "8"]
    assert client.resumed[0] == "replayed"


def test_a_client_can_break_its_connection_in_the_middle_of_an_event() -> None:
    long = event("p1", "7" * 2_000)
    with serving([b"id: p0\n\n" + long]) as (port, came):
        client = StreamClient(port, "token", random.Random(1), cuts=1.0)
        with listening([client]):
            wait_until(lambda: client.cut > 2)
    assert client.entities(UPDATE) == [] and {*came[1:]} == {"p0"}


@pytest.mark.parametrize(("asked", "wrong"), [("p1", []), ("p2", ["7"])])
def test_what_comes_twice_must_have_been_behind_the_position(asked: str, wrong: list[str]) -> None:
    client = StreamClient(1, "token", random.Random(1))
    client.asked = ["", asked]
    data = '{"id":"7"}'
    client.heard = [HeardEvent(0, UPDATE, data, "p1", 1), HeardEvent(1, UPDATE, data, "p3", 2)]
    assert wrong_repeats(client) == wrong


def test_notifications_are_told_apart_by_their_type() -> None:
    told = (
        b"event: notification\ndata: " + b'{"id":"%d","type":"%s"}\n\n' % (number, kind)
        for number, kind in enumerate((b"follow", b"mention", b"favourite"))
    )
    with serving([b"id: p0\n\n" + b"".join(told)]) as (port, _):
        client = StreamClient(port, "token", random.Random(1), is_quiet=True)
        with listening([client]):
            wait_until(lambda: client.ended_s > 0)
    assert client.entities(MENTION) == ["1"]
    assert client.entities(UPDATE) == []


class EmptyScene:
    """A cluster without processes, and clients without calls."""

    def __init__(self, cluster: Any, result: ExperimentResult, seed: int, slack: float) -> None:
        self.result, self.cluster = result, cluster
        self.load = SimpleNamespace(settle=lambda: None, calls=[])
        self.balancer = SimpleNamespace(watching=nullcontext)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(runner, "Scene", EmptyScene)
    monkeypatch.setattr(runner, "judge", lambda scene: None)
    monkeypatch.setattr(evidence, "FOLDER", tmp_path / "kept")
    (tmp_path / "web0.log").write_text("a line")
    return SimpleNamespace(logs=tmp_path)


def run(cluster: Any, error: Exception) -> ExperimentResult:
    def broken(_: object) -> None:
        raise error

    return runner.run_one(Experiment("F99", "it breaks", broken), cluster, 7)


def test_an_experiment_that_breaks_keeps_its_logs_and_findings(cluster: Any, tmp_path: Path):
    result = run(cluster, RuntimeError("a client broke"))
    assert not result.held
    kept = json.loads((tmp_path / "kept/F99/result.json").read_text())
    [[held, what, seen, needs_quiet]] = kept["findings"]
    assert (held, what, needs_quiet) == (False, "the experiment ran to its end", False)
    assert "a client broke" in seen
    assert (tmp_path / "kept/F99/web0.log").read_text() == "a line"
    assert (tmp_path / "kept/F99/history.jsonl").exists()


def test_a_skipped_experiment_keeps_nothing(cluster: Any, tmp_path: Path):
    assert run(cluster, ExperimentSkipped("no such thing here")).skipped == "no such thing here"
    assert not (tmp_path / "kept").exists()
