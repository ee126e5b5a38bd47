"""One id from the request through the change table to the last chunk of its fan-out."""

import re

import orjson
import pytest
from structlog.testing import capture_logs

from infra.changes.causes import read_causes, with_causes
from infra.sharding.scatter import scatter
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from infra.telemetry.request_ids import MOST_NAMED, add_requests, caused_by, get_request_ids
from relations.actions.follow import follow
from tests.callers import Caller
from tests.world import make_accounts

NAME = "from-the-proxy-0042"
ALL = "SELECT payload FROM changes_delivered"


def post(many_followed, name=NAME, text="hello"):
    return Caller(many_followed).post(
        "/api/v1/statuses", {"status": text}, **{"X-Request-Id": name}
    )


@pytest.fixture
def logs():
    with capture_logs(processors=[add_requests]) as lines:
        yield lines


@pytest.fixture
def many_followed(drain, settings):
    """One whose fan-outs are cut into chunks of two."""
    settings.INLINE_FOLLOWERS, settings.CHUNK_FOLLOWERS = 2, 2
    many_followed, *followers = make_accounts(5)
    for follower in followers:
        follow(follower, many_followed)
    drain()
    return many_followed


def test_from_the_request_through_drain_to_the_chunks(many_followed, drain, logs):
    assert post(many_followed)["X-Request-Id"] == NAME
    drain()
    chunks = [line for line in logs if line["event"] == "fan_out.chunk_pushed"]
    assert sum(line["followers"] for line in chunks) == 4
    assert [line["request_id"] for line in chunks] == [NAME] * len(chunks)
    drained = [line for line in logs if line["event"] == "drain.batch_delivered"]
    assert {tuple(line["request_ids"]) for line in drained} == {(NAME,)}


def test_each_fan_out_of_a_batch_has_the_id_of_its_own_author(many_followed, drain, logs):
    other, *followers = make_accounts(4)
    for follower in followers:
        follow(follower, other)
    drain()
    logs.clear()
    post(many_followed, "request-of-one")
    post(other, "request-of-other")
    drain()
    chunks = [line for line in logs if line["event"] == "fan_out.chunk_pushed"]
    assert {(line["author_id"], line["request_id"]) for line in chunks} == {
        (many_followed, "request-of-one"),
        (other, "request-of-other"),
    }


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("given", ["short", "x" * 65, "two words", "line\\nbreak", "naïve-id", ""])
def test_what_is_not_well_formed_is_replaced(given):
    answer = Caller(make_accounts(1)[0]).client.get("/health/live", headers={"X-Request-Id": given})
    assert re.fullmatch(r"[0-9a-f]{12}-[0-9a-f]+", answer["X-Request-Id"])


@pytest.mark.usefixtures("world")
def test_requests_have_names_of_their_own_and_nothing_after_them():
    caller = Caller(make_accounts(1)[0])
    names = {caller.get(path)["X-Request-Id"] for path in ["/health/live", "/nowhere", "/admin/"]}
    assert len(names) == 3
    assert get_request_ids() == ()


def test_questions_to_several_shards_name_the_request(world):
    with caused_by([NAME]):
        assert set(scatter({"shard0": get_request_ids, "shard1": get_request_ids}).values()) == {
            (NAME,)
        }


def test_what_commands_do_has_no_id_and_is_delivered(drain, logs):
    follow(*make_accounts(2))
    assert drain() > 0
    payloads = [row[0] for alias in all_aliases() for row in fetch_all(alias, ALL)]
    assert payloads
    assert not any("@requests" in payload for payload in payloads)
    assert not any("request_id" in line for line in logs)


def test_payload_is_what_it_was_to_who_knows_of_no_requests():
    assert with_causes(b'{"number":1}', []) == '{"number":1}'
    assert orjson.loads(with_causes(b'{"number":1}', [NAME]))["number"] == 1
    assert read_causes(with_causes(b"{}", [NAME])) == [NAME]
    many = [f"request-{n}" for n in range(100)]
    assert read_causes(with_causes(b'{"number":1}', many)) == many[:MOST_NAMED]
