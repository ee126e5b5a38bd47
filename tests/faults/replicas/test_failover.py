"""The server of a shard is lost and its standby promoted, while a web server runs.

The URL of the shard names both servers. Commits wait for the standby.
"""

import orjson
import psycopg
import pytest

from tests.callers import token_of
from tests.faults.hung_world import environment_of, running_web
from tests.paced_requests import Ask
from tests.private_world import bring_back
from tests.replicas import wait_for_standbys
from tests.server_faults import kill, pause
from tests.waiting import until

PER_S, LASTING_S = 20, 2.0
# One answer of a web server while a server of the shard is away, on a crowded machine.
MOST_S = 4.0
# An attempt to connect to a server that hangs takes 1.1.
AT_ONCE_S = 1.0


@pytest.fixture(scope="module")
def replica_counts():
    return {"shard0": 1}


@pytest.fixture
def standby(services):
    """Is as new afterwards: a promoted server cannot follow again."""
    primary, standby = services.postgres["shard0"], services.replicas["shard0_replica0"]
    wait_for_standbys(primary, "*")
    yield standby
    bring_back(primary)
    wait_for_standbys(primary, "")
    bring_back(standby)
    standby.stop()
    standby.copy()
    standby.start()


def promote(standby):
    with psycopg.connect(standby.url, autocommit=True) as session:
        session.execute("SELECT pg_promote()")


def end_sessions(standby):
    with psycopg.connect(standby.url, autocommit=True) as session:
        session.execute("""
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
        """)


def both(services):
    """The environment of a site whose shard0 has two servers."""
    primary, standby = services.postgres["shard0"], services.replicas["shard0_replica0"]
    address, port, second = (*primary.url.split("&port="), standby.url.partition("&port=")[2])
    address = address.replace("?host=", f"?host={standby.folders.sockets},")
    url = f"{address}&port={port},{second}&target_session_attrs=read-write"
    own = services.environment() | {"SHARD_REPLICA_URLS": ""}
    own["SHARD_DATABASE_URLS"] = own["SHARD_DATABASE_URLS"].replace(primary.url, url)
    return environment_of(own)


@pytest.mark.parametrize("lose", [kill, pause])
def test_writes_go_on_and_none_is_lost(services, standby, on_shard0, tmp_path, lose):
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
        promote(standby)
        until(lambda: clients.send(posts("back")[0]).status == 200)
        after = clients.paced(posts("after"), PER_S, LASTING_S)
        assert {answer.status for answer in after} == {200}
        assert max(answer.took_s for answer in (*away, *after)) < MOST_S
        # The server ends sessions that idle. New ones go to the server that answered last.
        end_sessions(standby)
        again = clients.paced(posts("again"), PER_S, LASTING_S)
        assert {answer.status for answer in again} == {200}
        assert max(answer.took_s for answer in again) < AT_ONCE_S
        acknowledged = {orjson.loads(answer.content)["id"] for answer in (*before, *after)}
        for post in acknowledged:
            assert clients.send(Ask("post", token, f"/api/v1/statuses/{post}")).status == 200
