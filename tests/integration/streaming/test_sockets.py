"""Streams over WebSocket."""

import json
import time

import pytest

from relations.actions.follow import follow
from tests.callers import token_of
from tests.delivered import deliver_all
from tests.integration.streaming.listening import publish_marker
from tests.waiting import until
from tests.world import make_accounts, publish
from web.streaming import socket


@pytest.fixture
def people(world):
    me, author = make_accounts(2)
    follow(me, author)
    deliver_all()
    return me, author


def test_a_socket_hears_its_stream_as_mastodon_says_it(site, people):
    me, author = people
    client = site.connect(me, stream="user")
    post_id = publish(author).public
    deliver_all()
    [heard] = client.hear("update")
    assert heard.stream == ["user"] and json.loads(heard.payload)["id"] == post_id


def test_a_socket_accepts_the_protocol_that_names_its_token(site, people):
    token = token_of(people[0])
    client = site.connect(people[0], token=token)
    assert client.sent[0] == {"type": "websocket.accept", "subprotocol": token}


def test_channels_are_added_and_left(site, people):
    me, author = people
    client = site.connect(me)
    client.say(type="subscribe", stream="user")
    client.say(type="subscribe", stream="hashtag", tag="Cats")
    until(lambda: len(site.channels_of(me)) == 2)
    publish(author, "#cats")
    deliver_all()
    heard = client.hear("update", "update")
    assert sorted(h.stream for h in heard) == [["hashtag", "cats"], ["user"]]
    client.say(type="unsubscribe", stream="hashtag", tag="cats")
    until(lambda: len(site.channels_of(me)) == 1)
    publish_marker(site, author, client)
    publish(author, "#cats")
    publish_marker(site, author, client)
    assert len([h for h in client.heard if h.stream == ["hashtag", "cats"]]) == 1


@pytest.mark.parametrize(
    "message",
    [
        {"type": "subscribe", "stream": "nothing"},
        {"type": "subscribe"},
        {"type": "dance", "stream": "user"},
        {"type": "subscribe", "stream": "list", "list": "99"},
        {"type": "subscribe", "stream": "hashtag", "tag": ""},
        {},
    ],
)
def test_bad_messages_get_an_error_and_the_connection_stays(site, people, message):
    me, author = people
    client = site.connect(me, stream="user")
    client.say(**message)
    client.hear("error")
    publish_marker_after_error(site, author, client)


@pytest.mark.parametrize("text", ["no json", "[]", '"x"', "x" * 10_000, ""])
def test_what_is_no_message_gets_an_error(site, people, text):
    client = site.connect(people[0])
    client.give({"type": "websocket.receive", "text": text})
    client.hear("error")


def test_a_connection_has_so_many_channels(site, people, monkeypatch):
    monkeypatch.setattr(socket, "MOST_CHANNELS", 2)
    client = site.connect(people[0], stream="user")
    for tag in ("a", "b"):
        client.say(type="subscribe", stream="hashtag", tag=tag)
    client.hear("error")


def test_a_stream_that_is_asked_for_again_counts_once(site, people, monkeypatch):
    me, author = people
    monkeypatch.setattr(socket, "MOST_CHANNELS", 1)
    client = site.connect(me, stream="user")
    for _ in range(3):
        client.say(type="subscribe", stream="user")
    publish_marker(site, author, client)
    client.hear("update")


def test_a_client_that_asks_all_the_time_is_read_slowly(site, people, monkeypatch):
    monkeypatch.setattr(socket, "QUICK_MESSAGES", 1)
    monkeypatch.setattr(socket, "PAUSE_S", 0.3)
    client = site.connect(people[0])
    begin = time.monotonic()
    for _ in range(4):
        client.say(type="dance")
    client.hear(*["error"] * 4)
    assert time.monotonic() - begin >= 0.9


def test_a_fault_of_ours_closes_the_connection(site, people, monkeypatch):
    me, _ = people
    client = site.connect(me, stream="user")

    def fail(subscriber, channel):
        raise ValueError("a fault of ours")

    monkeypatch.setattr(site.application._streams.admission, "listen", fail)
    client.say(type="subscribe", stream="public")
    until(lambda: client.has_ended)
    assert client.sent[-1] == {"type": "websocket.close", "code": 1013}
    assert site.channels_of(me) == set()


def test_refusals_come_before_the_connection_is_accepted(site, people):
    me, _ = people
    assert site.connect(me, token="wrong").status == 401
    assert site.connect(me, stream="nothing").status == 400
    assert site.connect(me, stream="list", list="99").status == 404


def test_a_socket_that_comes_back_hears_what_it_missed(site, people):
    me, author = people
    client = site.connect(me, stream="user")
    publish_marker(site, author, client)
    client.leave()
    missed = publish_marker(site, author, site.listen(author))
    again = site.connect(me, stream="user", last_id=client.heard[-1].id)
    heard = again.hear("resume", "update")
    assert heard[1].post_id == missed


def publish_marker_after_error(site, author, client):
    publish(author)
    deliver_all()
    client.hear("error", "update")
