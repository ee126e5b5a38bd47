"""A client that comes back says where it was, and gets what it missed, or must reload."""

import json

import pytest

from relations.actions.follow import follow
from tests.delivered import deliver_all
from tests.integration.streaming.listening import publish_marker, streaming_site
from tests.waiting import until
from tests.world import make_accounts, publish
from web.streaming import admission, feed, history, router, streams
from web.streaming.happenings.notifications import FiltersChanged
from web.streaming.happenings.read import read_happenings
from web.streaming.history import PlacedHappening
from web.streaming.positions import decode_position, encode_position


@pytest.fixture
def people(world):
    me, author, other = make_accounts(3)
    follow(me, author)
    deliver_all()
    return me, author, other


def outcome_of(client):
    first = client.heard[0]
    assert first.event == "resume"
    return json.loads(first.payload)["outcome"]


def posts_of(client):
    return [heard.post_id for heard in client.heard if heard.event != "resume"]


def test_who_missed_nothing_is_told_so(site, people):
    me, author, other = people
    client = site.listen(me)
    publish_marker(site, author, client)
    client.leave()
    publish_marker(site, other, own := site.listen(other))
    again = site.listen(me, last_id=client.last_id)
    assert outcome_of(again) == "nothing_missed" and posts_of(again) == []
    marker = publish_marker(site, author, again)
    assert posts_of(again) == [marker] and own.heard


def test_what_was_missed_is_replayed_in_order(site, people):
    me, author, other = people
    client = site.listen(me)
    publish_marker(site, author, client)
    client.leave()
    missed = [publish(author, str(n)).public for n in range(5)]
    publish(other)
    publish_marker(site, author, site.listen(author))
    again = site.listen(me, last_id=client.last_id)
    assert outcome_of(again) == "replayed" and posts_of(again)[:5] == missed
    marker = publish_marker(site, author, again)
    assert posts_of(again)[-1] == marker and len(posts_of(again)) == len(set(posts_of(again))) == 7


def test_a_stream_that_was_cut_goes_on_at_any_message(site, people):
    """Any message may be the last that the client got."""
    me, author, _ = people
    client = site.listen(me)
    for n in range(4):
        publish(author, str(n))
    marker = publish_marker(site, author, client)
    all_posts = posts_of(client)
    assert all_posts[-1] == marker
    for number, heard in enumerate(client.heard):
        again = site.listen(me, last_id=heard.id)
        assert posts_of(again) == all_posts[number + 1 :]


def test_notifications_are_replayed(site, people):
    me, author, other = people
    client = site.listen(me)
    publish_marker(site, author, client)
    client.leave()
    follow(other, me)
    deliver_all()
    publish_marker(site, author, site.listen(author))
    again = site.listen(me, last_id=client.last_id)
    assert "notification" in [heard.event for heard in again.heard]


def test_a_client_goes_on_at_another_process(site, people):
    me, author, _ = people
    client = site.listen(me)
    publish_marker(site, author, client)
    client.leave()
    missed = publish(author).public
    deliver_all()
    with streaming_site() as later:
        publish_marker(later, author, own := later.listen(author))
        again = later.listen(me, last_id=client.last_id)
        assert outcome_of(again) == "replayed" and posts_of(again)[0] == missed and own.heard


@pytest.mark.parametrize("last_id", ["nonsense", "AAAA", "x" * 10_000, "é"])
def test_what_is_no_position_is_a_reload(site, people, last_id):
    assert outcome_of(site.listen(people[0], last_event_id=last_id)) == "reload"


def test_a_position_that_is_forgotten_is_a_reload(site, people, monkeypatch):
    me, author, _ = people
    monkeypatch.setattr(history, "MOST_KEPT", 3)
    with streaming_site() as small:
        client = small.listen(me)
        for _ in range(5):
            publish_marker(small, author, client)
        assert outcome_of(small.listen(me, last_id=client.heard[0].id)) == "reload"
        assert outcome_of(small.listen(me, last_id=client.heard[-1].id)) == "nothing_missed"


def test_too_much_is_a_reload(site, people, monkeypatch):
    me, author, _ = people
    monkeypatch.setattr(admission, "MOST_REPLAYED", 4)
    client = site.listen(me)
    for _ in range(4):
        publish_marker(site, author, client)
    assert outcome_of(site.listen(me, last_id=client.heard[0].id)) == "reload"


def test_a_new_shard_is_not_in_an_old_position(site, people):
    me, author, _ = people
    client = site.listen(me)
    publish_marker(site, author, client)
    position = decode_position(client.last_id)
    places = dict(position.by_alias)
    del places["shard1"]
    last_id = encode_position(position._replace(by_alias=places)).decode()
    assert outcome_of(site.listen(me, last_id=last_id)) == "reload"


def test_a_database_that_has_not_begun_is_a_reload(site, people):
    """The process does not know what the client missed of it."""
    me, author, _ = people
    client = site.listen(me)
    publish_marker(site, author, client)
    position = decode_position(client.last_id)
    places = {**position.by_alias, "shard9": (1, 1, 1)}
    last_id = encode_position(position._replace(by_alias=places)).decode()
    assert outcome_of(site.listen(me, last_id=last_id)) == "reload"


def test_a_restored_server_that_counts_from_one_again_is_a_reload(world):
    log = history.History()
    for sequence in (1, 2):
        log.begin("default", (1, 1_000, sequence))
        happening = FiltersChanged(1)
        placed = PlacedHappening("default", (1, 1_000, sequence + 1), b"", b"", 0, happening)
        log.note(placed)
        log.move("default", placed.place, 0)
    before = log.position
    log.begin("default", (2, 5, 0))
    assert log.since(before) is None
    assert log.since(log.position) == []


@pytest.mark.parametrize("ahead", [(0, 0, 1), (0, 1_000_000, 0), (1, 0, 0)])
def test_a_position_of_another_history_is_a_reload(site, people, ahead):
    """A dump that was restored has lost changes that the client knows."""
    me, author, _ = people
    client = site.listen(me)
    publish_marker(site, author, client)
    position = decode_position(client.last_id)
    place = position.by_alias["default"]
    places = {"default": tuple(map(sum, zip(place, ahead, strict=True)))}
    later = position._replace(by_alias={**position.by_alias, **places})
    last_id = encode_position(later).decode()
    assert outcome_of(site.listen(me, last_id=last_id)) == "reload"


def test_a_page_that_fails_is_a_reload(site, people, monkeypatch):
    me, author, _ = people
    client = site.listen(me)
    publish_marker(site, author, client)

    def fail(change):
        monkeypatch.setattr(router, "read_happenings", read_happenings)
        raise ValueError("a fault of ours")

    monkeypatch.setattr(router, "read_happenings", fail)
    publish(author)
    deliver_all()
    until(lambda: client.has_ended)
    assert outcome_of(site.listen(me, last_id=client.last_id)) == "reload"


def test_a_process_that_begins_tells_no_old_news(people, monkeypatch):
    """Also those who come before it has read the last changes."""
    me, author, _ = people
    for n in range(6):
        publish(author, str(n))
    deliver_all()
    monkeypatch.setattr(feed, "PAGE", 2)
    monkeypatch.setattr(streams, "LONGEST_START_S", 0)
    with streaming_site() as begun:
        client = begun.open(me)
        until(lambda: client.has_ended or begun.application._streams._have_feeds_begun())
        again = begun.listen(me)
        marker = publish_marker(begun, author, again)
        assert {*posts_of(client), *posts_of(again)} == {marker}


def test_a_position_follows_what_the_stream_is_silent_about(site, people, monkeypatch):
    """Otherwise a quiet client would come back with a position that is forgotten."""
    monkeypatch.setattr("web.streaming.connections.HEARTBEAT_S", 0.1)
    me, _, other = people
    with streaming_site() as busy:
        quiet = busy.listen(me)
        first = quiet.last_id
        publish_marker(busy, other, busy.listen(other))
        until(lambda: quiet.last_id != first)
        assert quiet.heard == []


def test_a_client_of_mastodon_gets_no_block_that_is_no_event(people, monkeypatch):
    """Mastodon.py takes each block for an event, and fails without its name."""
    monkeypatch.setattr("web.streaming.connections.HEARTBEAT_S", 0.1)
    me, author, _ = people
    with streaming_site() as busy:
        plain = busy.listen(me, headers={"accept": "*/*"})
        publish_marker(busy, author, plain)
        until(lambda: ":thump" in plain.text)
        blocks = [block for block in plain.text.split("\n\n") if block]
        lines = [line for block in blocks for line in block.split("\n") if line[0] != ":"]
        assert [line.partition(":")[0] for line in lines] == ["event", "data", "id"]
        again = busy.listen(me, last_id=plain.heard[0].id, headers={"accept": "*/*"})
        assert outcome_of(again) == "nothing_missed" and "retry" not in again.text
