"""No notification is left out of a stream while other things happen."""

import json

import pytest
from django.db import OperationalError

from counters.kinds import DECLARED
from infra.changes.compensate import drain
from infra.changes.lanes import lane_of
from infra.sharding.buckets import shard_of
from moderation.types import DecisionKind
from notifications.queries import arrived
from posts.actions.declare_reaction import declare_reaction
from posts.actions.mark_post import mark_post
from posts.types import Kind
from relations.actions.follow import follow
from tests.callers import Caller, ids_of
from tests.delivered import deliver_all
from tests.integration.streaming.listening import publish_marker
from tests.people import decide
from tests.waiting import until
from tests.world import make_accounts, publish
from web.streaming import admission, show
from web.streaming.positions import decode_position, encode_position


@pytest.fixture
def people(world):
    return make_accounts(3)


def ids_heard(client):
    """Of notifications."""
    return [json.loads(h.payload)["id"] for h in client.heard if h.event == "notification"]


def wait_until_heard(client, count):
    until(lambda: len(ids_heard(client)) >= count, said=lambda: client.text)
    return ids_heard(client)


def name_of(account_id):
    return Caller(account_id).get("/api/v1/accounts/verify_credentials").json()["username"]


def listed(account_id):
    """The ids of the newest notifications, oldest first."""
    return ids_of(Caller(account_id).get("/api/v1/notifications?limit=80"))[::-1]


@pytest.fixture
def crowd(monkeypatch):
    """Three notifications are more than one query reads."""
    monkeypatch.setattr("notifications.queries.arrived.MOST_ARRIVED", 2)
    return make_accounts(5)


def test_a_crowd_of_notifications_is_heard(site, people, crowd):
    me = people[0]
    client = site.listen(me)
    for account_id in crowd:
        follow(account_id, me)
    deliver_all()
    assert wait_until_heard(client, 5) == listed(me)


def test_a_crowd_of_notifications_is_replayed(site, people, crowd):
    me, author, _ = people
    client = site.listen(me)
    publish_marker(site, me, client)
    client.leave()
    for account_id in crowd:
        follow(account_id, me)
    deliver_all()
    publish_marker(site, author, site.listen(author))
    assert wait_until_heard(site.listen(me, last_id=client.last_id), 5) == listed(me)


def test_a_flood_of_notifications_is_a_reload(site, people, crowd, monkeypatch):
    monkeypatch.setattr(admission, "MOST_REPLAYED", 4)
    me, author, _ = people
    client = site.listen(me)
    client.leave()
    for account_id in crowd:
        follow(account_id, me)
    deliver_all()
    publish_marker(site, author, site.listen(author))
    again = site.listen(me, last_id=client.last_id)
    assert json.loads(again.heard[0].payload)["outcome"] == "reload"


def test_a_notification_from_a_database_that_was_behind_is_replayed(site, people):
    """The time in the position is that of another database, which was ahead."""
    me, author, other = people
    client = site.listen(me)
    publish_marker(site, me, client)
    client.leave()
    follow(other, me)
    deliver_all()
    publish_marker(site, author, site.listen(author))
    position = decode_position(client.last_id)
    ahead = encode_position(position._replace(at_ms=position.at_ms + 60_000)).decode()
    assert ids_heard(site.listen(me, last_id=ahead)) == listed(me)


def test_a_notification_during_the_admission_is_heard(site, people, monkeypatch):
    me, author, other = people
    load_following = admission.load_following

    def load_late(account_id):
        monkeypatch.setattr(admission, "load_following", load_following)
        follow(other, me)
        publish_marker(site, author, watcher)
        return load_following(account_id)

    watcher = site.listen(author)
    monkeypatch.setattr(admission, "load_following", load_late)
    client = site.listen(me)
    publish_marker(site, me, client)
    post_id = publish(me)
    deliver_all()
    mark_post(other, post_id, Kind.FAVOURITE, True)
    deliver_all()
    assert wait_until_heard(client, 2) == listed(me)


@pytest.mark.parametrize(
    ("path", "options"), [("direct", {}), ("user", {"scope": "read:statuses"})]
)
def test_a_second_connection_hears_nothing_before_it(site, people, path, options):
    """The first one is about other things."""
    me, author, other = people
    site.listen(me, path, **options)
    follow(author, me)
    deliver_all()
    publish_marker(site, author, site.listen(author))
    client = site.listen(me)
    follow(other, me)
    deliver_all()
    # The notification and the marker come from two databases, in any order.
    publish_marker(site, me, client)
    assert wait_until_heard(client, 1) == listed(me)[1:]


@pytest.mark.parametrize("kind", [Kind.FAVOURITE, Kind(DECLARED.start)])
def test_a_reaction_that_comes_back_is_heard_again(site, people, kind):
    declare_reaction("clap", {"en": "clap"}, at_ms=0)
    me, _, other = people
    post_id = publish(me)
    deliver_all()
    client = site.listen(me)
    for is_on in (True, False, True):
        mark_post(other, post_id, kind, is_on)
        deliver_all()
        publish_marker(site, me, client)
    newest = listed(me)
    until(lambda: ids_heard(client)[-1:] == newest, said=lambda: client.text)


def test_a_reaction_that_was_taken_back_while_it_was_read_is_heard_when_it_returns(
    site, people, monkeypatch
):
    """Its row keeps its id, because the end of it did not count as an end."""
    me, _, other = people
    post_id = publish(me)
    deliver_all()
    client = site.listen(me)
    read, undone = arrived.with_undone, []

    def undo_and_read(owner_id, rows):
        if not undone:
            mark_post(other, post_id, Kind.FAVOURITE, False)
            drain(shard_of(other), lane_of(other))
        undone.append(read(owner_id, rows))
        return undone[-1]

    monkeypatch.setattr(arrived, "with_undone", undo_and_read)
    mark_post(other, post_id, Kind.FAVOURITE, True)
    deliver_all()
    until(lambda: undone)
    assert undone[0].undone, "it was on when it was found"
    publish_marker(site, me, client)
    assert ids_heard(client) == []
    mark_post(other, post_id, Kind.FAVOURITE, True)
    deliver_all()
    newest = listed(me)
    until(lambda: ids_heard(client) == newest, 30, said=lambda: client.text)


def test_notifications_are_heard_after_another_account_lost_its_shard(site, people, monkeypatch):
    """They were read before the other account's failed."""
    me, author, other = people
    clients = {account_id: site.listen(account_id) for account_id in (me, other)}
    view, lost = show.view, []

    def view_or_fail(originals, hydrated, viewer):
        if viewer.account_id == other or not lost:
            lost.append(viewer.account_id)
            raise OperationalError("away")
        return view(originals, hydrated, viewer)

    monkeypatch.setattr(show, "view", view_or_fail)
    names = " ".join(f"@{name_of(account_id)}" for account_id in clients)
    publish(author, f"{names} hello")
    deliver_all()
    until(lambda: clients[other].has_ended)
    assert wait_until_heard(clients[me], 1) == listed(me)


def test_a_decision_of_the_moderators_is_heard_by_its_account_only(site, people):
    me, other, _ = people
    client, others = site.listen(me), site.listen(other)
    decide(me, DecisionKind.WARN)
    deliver_all()
    wait_until_heard(client, 1)
    [heard] = [h for h in client.heard if h.event == "notification"]
    assert [json.loads(heard.payload)] == Caller(me).get("/api/v1/notifications").json()
    publish_marker(site, other, others)
    assert ids_heard(others) == []
