"""Nothing is left of connections that ended while they did something."""

import threading

import pytest
from django.db import OperationalError

from infra.sharding.buckets import shard_of
from relations.actions.follow import follow, unfollow
from relations.types import FollowOptions
from tests.delivered import deliver_all
from tests.integration.streaming.listening import events_before, publish_marker
from tests.waiting import until
from tests.world import make_accounts, publish
from timelines.tags.actions.own_tags import add_own_tag, choose_at_home
from timelines.tags.types import TagListKind
from web.streaming import admission, router
from web.streaming.subscriber import STORE_AWAY


@pytest.fixture
def people(world):
    me, author = make_accounts(2)
    follow(me, author)
    deliver_all()
    return me, author


@pytest.fixture
def hanging(monkeypatch):
    """The shard with the followees. It was asked; it is to go on; the asker has done with it."""
    has_asked, goes_on, is_done = threading.Event(), threading.Event(), threading.Event()
    load_following, learn = admission.load_following, admission.Admission._learn

    def learn_and_say(self, member):
        learn(self, member)
        is_done.set()

    def load_late(account_id):
        has_asked.set()
        goes_on.wait(60)
        return load_following(account_id)

    monkeypatch.setattr(admission, "load_following", load_late)
    monkeypatch.setattr(admission.Admission, "_learn", learn_and_say)
    return has_asked, goes_on, is_done


def left_in(site):
    """What the process still knows of connections."""
    streams = site.application._streams
    directory, counted = streams.admission._directory, streams.connections
    with directory.lock:
        return [
            *directory.members.values(),
            *directory._followers,
            *directory._unread,
            *directory._by_channel,
            *directory._by_name,
            *counted._open,
            *counted._of_owner,
        ]


def find_subscriber(site, account_id):
    return next(
        each
        for each in site.application._streams.connections._open
        if each.account_id == account_id
    )


def test_nothing_is_left_of_connections(site, people):
    me, author = people
    socket = site.connect(me, stream="user")
    for stream in ("public", "direct", "user:notification"):
        socket.say(type="subscribe", stream=stream)
    socket.say(type="subscribe", stream="hashtag", tag="cats")
    clients = [socket, site.listen(me), site.listen(author), site.listen(author, "public")]
    until(lambda: len(site.channels_of(me)) == 5)
    publish_marker(site, author, *clients[1:])
    for client in clients:
        client.leave()
    assert left_in(site) == []


def test_nothing_is_left_of_who_ends_while_a_shard_hangs(site, people, hanging):
    has_asked, goes_on, is_done = hanging
    me, _ = people
    client = site.connect(me)
    client.say(type="subscribe", stream="user")
    assert has_asked.wait(60)
    subscriber = find_subscriber(site, me)
    site.loop.call_soon_threadsafe(subscriber.end, STORE_AWAY)
    until(lambda: client.has_ended)
    goes_on.set()
    assert is_done.wait(60)
    assert left_in(site) == []


def test_who_ended_before_its_turn_is_not_let_in(site, people):
    """The threads were busy until then."""
    me, _ = people
    site.connect(me)
    subscriber = find_subscriber(site, me)
    admission_of_site = site.application._streams.admission
    admission_of_site.remove(subscriber)
    for name in ("user", "public"):
        admission_of_site.listen(subscriber, admission.Channel(name))
    assert site.channels_of(me) == set()


def test_a_stream_that_was_refused_is_not_heard(site, people, monkeypatch):
    me, author = people

    def fail(account_id):
        raise OperationalError("away")

    client = site.connect(me, stream="hashtag", tag="cats")
    with monkeypatch.context() as patch:
        patch.setattr(admission, "load_following", fail)
        client.say(type="subscribe", stream="user")
        client.hear("error")
    publish_marker(site, author, site.listen(author))
    assert [heard.event for heard in client.heard] == ["error"]
    assert len(site.channels_of(me)) == 1


@pytest.mark.parametrize("what", ["load_edges", "ask_home_tags"])
def test_who_follows_while_the_store_is_away_comes_back(site, people, monkeypatch, what):
    """The process does not know whose posts the account reads now. Others are not concerned."""
    me, author = people
    other, bystander = make_accounts(2)
    follow(bystander, author)
    deliver_all()
    mine, others = site.listen(me), site.listen(bystander)

    def fail(*_):
        raise OperationalError("away")

    with monkeypatch.context() as patch:
        patch.setattr(router, what, fail)
        if what == "load_edges":
            follow(me, other)
        else:
            add_own_tag(me, TagListKind.FOLLOWED, "cats")
            choose_at_home(me, True)
        deliver_all()
        until(lambda: mine.has_ended)
    publish_marker(site, author, others)
    assert not others.has_ended
    again = site.listen(me)
    publish_marker(site, author, again)
    if what == "load_edges":
        publish_marker(site, other, again)


def test_a_follow_and_its_end_are_known_from_the_next_change_of_who_follows(site, people):
    """Each database is looked at by itself, so posts of others may come before the follow."""
    me, author = people
    other = make_accounts(1)[0]
    client = site.listen(me)
    follow(me, other)
    first = publish_marker(site, me, client), publish_marker(site, other, client)
    unfollow(me, other)
    last = publish_marker(site, me, client)
    publish(other, "not for me")
    marker = publish_marker(site, author, client)
    assert [post for _, post in events_before(client, marker)] == [*first, last]


@pytest.mark.parametrize("is_known", [True, False])
def test_posts_that_are_read_before_the_follow_are_heard_once(site, people, monkeypatch, is_known):
    """The database of the follow is read late. Not heard is what was written before the follow."""
    me, _ = people
    other = next(each for each in make_accounts(16) if shard_of(each) != shard_of(me))
    pages, goes_on = site.application._streams._router._pages, threading.Event()
    put = pages.put

    def put_late(given):
        if given and given[0] == shard_of(me):
            goes_on.wait(60)
        put(given)

    client, theirs = site.listen(me), site.listen(other)
    before = publish_marker(site, other, theirs)
    if is_known:
        follow(me, other)
        publish_marker(site, me, client)
    monkeypatch.setattr(pages, "put", put_late)
    follow(me, other, FollowOptions(notify=True))
    posts = [publish_marker(site, other, theirs) for _ in range(2)]
    assert is_known or client.heard == []
    goes_on.set()
    marker = publish_marker(site, me, client)
    heard = [one for one in events_before(client, marker) if one[1] in (before, *posts)]
    assert heard == [("update", post) for post in posts]


def test_a_follow_is_not_lost_between_two_connections(site, people, monkeypatch):
    """The second begins to read the followees after the follow, the first before."""
    me, author = people
    other = make_accounts(1)[0]
    load_following = admission.load_following
    turns, second_asks, second_goes_on = [], threading.Event(), threading.Event()

    def load_in_turn(account_id):
        following = load_following(account_id)
        if account_id != me:
            return following
        turns.append(account_id)
        if len(turns) == 1:
            follow(me, other)
            publish_marker(site, author, watcher)
            site.open(me)
            assert second_asks.wait(60)
        elif len(turns) == 2:
            second_asks.set()
            second_goes_on.wait(60)
        return following

    watcher = site.listen(author)
    monkeypatch.setattr(admission, "load_following", load_in_turn)
    client = site.listen(me)
    second_goes_on.set()
    publish_marker(site, other, client)


def test_a_subscriber_that_has_ended_is_sent_nothing(site, people):
    """Else a later message would move its position past the one that is missing."""
    me, _ = people
    client = site.listen(me)
    subscriber = find_subscriber(site, me)
    sizes = []

    def end_and_offer():
        subscriber.end(STORE_AWAY)
        subscriber.put(b"id: later\n\n")
        sizes.append(len(subscriber._queue))

    site.loop.call_soon_threadsafe(end_and_offer)
    until(lambda: client.has_ended)
    assert sizes == [0] and "later" not in client.text
