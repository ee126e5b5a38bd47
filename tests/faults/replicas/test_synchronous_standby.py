"""A shard whose commits wait for a standby: an answer says that the standby has the write.

The server of a shard is lost and its standby promoted, while a web server runs.

The URL of the shard names both servers. Commits wait for the standby.
"""

import threading
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial

import orjson
import psycopg
import pytest
from django.db import connections

from infra.changes.append import finish_interrupted
from infra.sharding.buckets import shard_of
from tests.callers import Caller, token_of
from tests.faults.hung_world import environment_of, running_web
from tests.paced_requests import Ask
from tests.private_world import bring_back
from tests.replicas import wait_for_standbys
from tests.server_faults import kill, pause
from tests.waiting import until
from tests.world import drain_all, make_accounts, publish

WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
# Grows with each transaction that writes.
NEXT_TRANSACTION = "SELECT pg_snapshot_xmax(pg_current_snapshot())"
KEY = {"Idempotency-Key": "once"}


@pytest.fixture(scope="module")
def replica_counts():
    return {"shard0": 1}


@pytest.fixture
def other(services, on_shard0):
    return next(one for one in make_accounts(12) if shard_of(one) != "shard0")


@pytest.fixture
def admin(services):
    """A session on the primary whose own commits wait for no standby."""
    with psycopg.connect(services.postgres["shard0"].url, autocommit=True) as session:
        session.execute("SET synchronous_commit = local")
        yield session


@pytest.fixture
def standby(services):
    """The commits of shard0 wait for this server."""
    wait_for_standbys(services.postgres["shard0"], "*")
    server = services.replicas["shard0_replica0"]
    yield server
    wait_for_standbys(services.postgres["shard0"], "")
    bring_back(server)


class Sent:
    """A request of another thread."""

    def __init__(self, send: Callable[[], object]) -> None:
        self.status: int | None = None
        self._send = send
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        try:
            self.status = self._send().status_code
        finally:
            connections.close_all()

    def ended(self):
        self._thread.join(30)
        return self.status


@contextmanager
def waiting_for_standby(admin, send):
    """The request's commit waits. The block gets the request and the pid of its session."""
    sent = Sent(send)
    try:
        yield sent, until(lambda: admin.execute(WAITING).fetchone())[0]
    finally:
        admin.execute(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        )
        sent.ended()


def acts(on_shard0, other):
    """Writes that a client repeats after a 503, with what makes each possible."""
    post, caller = publish(other), Caller(on_shard0)
    path = f"/api/v1/statuses/{post.public}"
    return {
        "post": partial(caller.post, "/api/v1/statuses", {"status": "new"}, **KEY),
        "favourite": partial(caller.post, f"{path}/favourite"),
        "bookmark": partial(caller.post, f"{path}/bookmark"),
        "repost": partial(caller.post, f"{path}/reblog"),
        "follow": partial(caller.post, f"/api/v1/accounts/{other}/follow"),
        "mute": partial(caller.post, f"/api/v1/accounts/{other}/mute"),
        "block": partial(caller.post, f"/api/v1/accounts/{other}/block"),
        "note": partial(caller.post, f"/api/v1/accounts/{other}/note", {"comment": "kind"}),
        "thread": partial(caller.post, f"{path}/mute"),
    }


ACTS = ("post", "favourite", "bookmark", "repost", "follow", "mute", "block", "note", "thread")


@pytest.mark.parametrize("name", ACTS)
def test_no_answer_before_the_standby_has_it(on_shard0, other, admin, standby, name):
    send = acts(on_shard0, other)[name]
    drain_all()
    pause(standby)
    with waiting_for_standby(admin, send) as (first, pid):
        # As an operator does, or a failover. PostgreSQL then commits here alone and says so.
        admin.execute("SELECT pg_cancel_backend(%s)", (pid,))
        assert first.ended() == 503, "not acknowledged: a failover would lose it"
    with waiting_for_standby(admin, send) as (again, _):
        assert again.status is None, "the repetition finds the row, and waits for its replication"
        bring_back(standby)
        assert again.ended() == 200


def test_repetition_waits_also_when_its_change_is_delivered(on_shard0, other, admin, standby):
    follow = acts(on_shard0, other)["follow"]
    assert follow().status_code == 200
    drain_all()
    pause(standby)
    with waiting_for_standby(admin, follow) as (again, _):
        bring_back(standby)
        assert again.ended() == 200


def test_repetition_writes_nothing_if_no_commit_waits(on_shard0, admin):
    before = admin.execute(NEXT_TRANSACTION).fetchone()
    finish_interrupted("shard0", on_shard0)
    assert admin.execute(NEXT_TRANSACTION).fetchone() == before


PER_S, LASTING_S = 20, 2.0
# One answer of a web server while a server of the shard is away, on a crowded machine.
MOST_S = 4.0
# An attempt to connect to a server that hangs takes 1.1.
AT_ONCE_S = 1.0


@pytest.fixture
def to_promote(services):
    """Is as new afterwards: a promoted server cannot follow again."""
    primary, to_promote = services.postgres["shard0"], services.replicas["shard0_replica0"]
    wait_for_standbys(primary, "*")
    yield to_promote
    bring_back(primary)
    wait_for_standbys(primary, "")
    bring_back(to_promote)
    to_promote.stop()
    to_promote.copy()
    to_promote.start()


def promote(to_promote):
    with psycopg.connect(to_promote.url, autocommit=True) as session:
        session.execute("SELECT pg_promote()")


def end_sessions(to_promote):
    with psycopg.connect(to_promote.url, autocommit=True) as session:
        session.execute("""
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
        """)


def both(services):
    """The environment of a site whose shard0 has two servers."""
    primary, to_promote = services.postgres["shard0"], services.replicas["shard0_replica0"]
    address, port, second = (*primary.url.split("&port="), to_promote.url.partition("&port=")[2])
    address = address.replace("?host=", f"?host={to_promote.folders.sockets},")
    url = f"{address}&port={port},{second}&target_session_attrs=read-write"
    own = services.environment() | {"SHARD_REPLICA_URLS": ""}
    own["SHARD_DATABASE_URLS"] = own["SHARD_DATABASE_URLS"].replace(primary.url, url)
    return environment_of(own)


@pytest.mark.parametrize("lose", [kill, pause])
def test_writes_go_on_and_none_is_lost(services, to_promote, on_shard0, tmp_path, lose):
    """Killed, it refuses connections. Hung, it takes them and never answers."""
    token = token_of(on_shard0)

    def posts(name):
        return [
            Ask(name, token, "/api/v1/statuses", "POST", {"status": f"{name} {n}"})
            for n in range(9)
        ]

    with running_web(both(services), tmp_path / "web.log") as clients:
        before = clients.paced(posts("before"), PER_S, LASTING_S)
        assert {answer.status for answer in before} == {200}
        lose(services.postgres["shard0"])
        away = clients.paced(posts("away"), PER_S, LASTING_S)
        assert {answer.status for answer in away} == {503}
        promote(to_promote)
        until(lambda: clients.send(posts("back")[0]).status == 200)
        after = clients.paced(posts("after"), PER_S, LASTING_S)
        assert {answer.status for answer in after} == {200}
        assert max(answer.took_s for answer in (*away, *after)) < MOST_S
        # The server ends sessions that idle. New ones go to the server that answered last.
        end_sessions(to_promote)
        again = clients.paced(posts("again"), PER_S, LASTING_S)
        assert {answer.status for answer in again} == {200}
        assert max(answer.took_s for answer in again) < AT_ONCE_S
        acknowledged = {orjson.loads(answer.content)["id"] for answer in (*before, *after)}
        for post in acknowledged:
            assert clients.send(Ask("post", token, f"/api/v1/statuses/{post}")).status == 200
