"""The streaming server over the network: what ASGI alone does not show."""

import http.client
import json

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from lab.runner.port import HOST
from relations.actions.follow import follow
from tests.callers import token_of
from tests.delivered import deliver_all
from tests.integration.streaming.serving import HEALTH, Reader, running_streams, texts_of
from tests.waiting import PATIENCE_S, until
from tests.world import make_accounts, publish

pytestmark = pytest.mark.slow


@pytest.fixture
def people(world):
    me, author = make_accounts(2)
    follow(me, author)
    deliver_all()
    return me, author


@pytest.fixture
def server(people, tmp_path):
    with running_streams(tmp_path / "streaming.log") as server:
        yield server


def publish_until(author_id, has_come):
    """Posts, until one was heard."""

    def post():
        publish(author_id)
        deliver_all()
        return has_come()

    until(post)


def test_each_message_comes_at_once_over_http(server, people):
    me, author = people
    reader = Reader(server[1], token_of(me)).start()
    assert reader.answer.status == 200
    assert reader.answer.headers["Content-Type"] == "text/event-stream"
    assert reader.answer.headers["X-Accel-Buffering"] == "no"
    publish(author)
    deliver_all()
    until(reader.events)
    assert reader.events() == ["update"]
    reader.close()


def test_each_message_comes_at_once_over_websocket(server, people):
    me, author = people
    token = token_of(me)
    address = f"ws://{HOST}:{server[1]}/api/v1/streaming?stream=user"
    with connect(address, subprotocols=[token]) as stream:
        assert stream.subprotocol == token
        publish(author)
        deliver_all()
        [text] = texts_of(stream, 1)
        message = json.loads(text)
        assert (message["stream"], message["event"]) == (["user"], "update")
        stream.send(json.dumps({"type": "subscribe", "stream": "nothing"}))
        assert json.loads(texts_of(stream, 1)[0])["status"] == 400


@pytest.mark.parametrize(
    ("path", "status"), [("?stream=user", 401), ("?stream=x", 401), ("/user", 404)]
)
def test_a_websocket_that_is_refused_has_a_status(server, path, status):
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(f"ws://{HOST}:{server[1]}/api/v1/streaming{path}"),
    ):
        pass
    assert refused.value.response.status_code == status


def test_a_browser_may_ask_before_it_connects(server):
    connection = http.client.HTTPConnection(HOST, server[1], timeout=PATIENCE_S)
    connection.request(
        "OPTIONS", "/api/v1/streaming/user", headers={"Origin": "https://client.example"}
    )
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 204 and answer.headers["Access-Control-Allow-Origin"] == "*"
    connection.request("GET", HEALTH)
    assert connection.getresponse().read() == b"OK"
    connection.close()


def test_it_drains_and_its_clients_go_on_at_another_process(people, tmp_path):
    me, author = people
    with running_streams(tmp_path / "first.log") as (first, port):
        reader = Reader(port, token_of(me)).start()
        publish(author)
        deliver_all()
        until(reader.events)
        first.begin_stop()
        until(reader.has_ended.is_set)
        until(lambda: not first.is_running)
        assert first.exit_code == 0
    missed = publish(author).public
    deliver_all()
    with running_streams(tmp_path / "second.log") as (_, port):
        until(lambda: missed in resumed(port, me, reader.last_id()))
        reader.close()


def test_a_process_that_was_killed_loses_no_message(people, tmp_path):
    me, author = people
    with running_streams(tmp_path / "first.log") as (first, port):
        reader = Reader(port, token_of(me)).start()
        publish_until(author, reader.events)
        first.kill()
        until(reader.has_ended.is_set)
    missed = publish(author).public
    deliver_all()
    with running_streams(tmp_path / "second.log") as (_, port):
        until(lambda: missed in resumed(port, me, reader.last_id()))
        reader.close()


def resumed(port, account_id, last_id):
    """What a client that comes back gets. The process may still be reading what was before it."""
    reader = Reader(port, token_of(account_id), last_id=last_id).start()
    until(lambda: '"outcome"' in "\n".join(reader.lines))
    until(lambda: reader.lines[-1] == "")
    text = "\n".join(reader.lines)
    reader.close()
    return text
