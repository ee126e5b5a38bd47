"""What a poll returns besides what is above its cursor, how often, and in which order."""

import pytest
from django.db import OperationalError
from redis.exceptions import ConnectionError as RedisAway

from infra.api.pages import Window
from infra.caching.client import redis
from infra.changes import failpoints
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.integration.timelines.indexed import complete_index
from tests.integration.timelines.polling_clients import MinIdClient, SinceIdClient
from tests.integration.timelines.virtual_time import VirtualTime
from tests.world import drain_all, make_accounts, publish
from timelines.home.page import home_page
from timelines.polling import records
from timelines.recent.factory import recent_index
from timelines.recent.packs import load_packs

BOTH = pytest.mark.redis("single", "cluster")


class Late:
    """A reader, and posts that arrive below the reader's cursor: each is of a second long ago.

    An author's posts are in the order in which they are made, so late ones have an author of their
    own.
    """

    def __init__(self, time):
        self.time = time
        self.me, self.author, self.slow, self.other = make_accounts(4)
        self.followed = [self.author, self.slow, self.other]
        for followee in self.followed:
            follow(self.me, followee)
        complete_index(0)
        drain_all()

    def post(self, ago_s=0, author=None):
        at_s = self.time.clock_s() - ago_s
        author = author or (self.slow if ago_s else self.author)
        made = publish(author, clock_s=lambda: at_s)
        drain_all()
        self.time.stamp()
        return made

    def read(self, window, around=None):
        return home_page(self.me, window, self.time.clock_ms, "token", around)

    def take_turns(self, clients, to_end=True):
        """Also while new posts come, with which each of them gets what the other ones got."""
        for n in range(20):
            if n > 5:
                self.post()
            for client in clients:
                self.time.pass_ms(1_500)
                client.poll_to_end() if to_end else client.poll()

    def begin(self, kind=MinIdClient, limit=20):
        """A client with a cursor from a poll: it is known that no other client has it."""
        client = kind(self.read, limit)
        client.poll()
        self.time.pass_ms(5_000)
        self.post()
        client.poll()
        return client


@pytest.fixture
def late(world, each_index, monkeypatch):
    return Late(VirtualTime(monkeypatch))


@BOTH
def test_a_late_post_is_returned_between_what_is_seen_and_what_is_new(late):
    client = late.begin()
    late.time.pass_ms(60_000)
    below, above = late.post(ago_s=120), late.post(ago_s=30)
    assert client.poll() == [above, below]
    assert client.poll() == []


def test_alone_it_does_not_move_the_cursor_back(late):
    client = late.begin()
    late.time.pass_ms(60_000)
    below = late.post(ago_s=120)
    page = late.read(Window(20, min_id=client.cursor.public))
    assert page.newer == client.cursor.public
    assert below < client.cursor


@BOTH
def test_alone_it_is_returned_at_once_and_once_more_with_the_page_that_moves_on(late):
    """The answer may be lost, or another client may have it."""
    client = late.begin()
    late.time.pass_ms(60_000)
    below = late.post(ago_s=120)
    assert client.poll() == [below]
    for pause_ms in (0, 1_000, 60_000):
        late.time.pass_ms(pause_ms)
        assert client.poll() == []
    above = late.post()
    assert client.poll() == [above, below]
    late.time.pass_ms(3_000)
    above = late.post()
    assert client.poll() == [above]


def test_what_is_returned_again_waits_for_a_cursor_with_which_each_page_has_it(late):
    """A page with the cursor may be older than the late post, and then a client lacks it there."""
    client = late.begin()
    late.time.pass_ms(60_000)
    below = late.post(ago_s=120)
    assert client.poll() == [below]
    above = late.post()
    assert client.poll() == [above]
    late.time.pass_ms(3_000)
    above = late.post()
    assert client.poll() == [above, below]


@pytest.mark.parametrize("slow_ms", [100, 30_000])
def test_a_post_that_is_not_pushed_yet_is_not_returned_and_comes_later(late, slow_ms, monkeypatch):
    """The ordinary page after the poll would not have it: the client would see it go away."""
    monkeypatch.setattr(failpoints, "_armed", {})
    client, early = late.begin(), []
    late.time.pass_ms(60_000)

    def poll():
        late.time.stamp()
        early.extend(client.poll())
        late.time.pass_ms(slow_ms)

    failpoints.arm("fan_out.indexed", poll)
    below = late.post(ago_s=120)
    failpoints.disarm("fan_out.indexed")
    assert early == []
    assert client.poll() == [below]


@pytest.mark.parametrize("pause_ms", [0, 300, 3_000, 90_000])
def test_what_was_new_is_not_returned_again(late, pause_ms):
    client, got = late.begin(), []
    for _ in range(4):
        late.time.pass_ms(1_000)
        got += [late.post(author=late.other), late.post()]
        client.poll()
        late.time.pass_ms(pause_ms)
    assert client.seen >= set(got)
    assert client.poll() == []
    assert sum(map(len, client.got)) == len(client.seen)


def test_late_posts_that_fill_the_page_come_first_and_the_cursor_waits(late):
    client = late.begin(limit=3)
    late.time.pass_ms(600_000)
    below = [late.post(ago_s=900 - n) for n in range(7)]
    above = late.post()
    assert client.poll() == below[2::-1]
    assert client.poll() == below[5:2:-1]
    assert client.poll() == [above, below[6]]
    assert client.poll() == []


@BOTH
@pytest.mark.parametrize("kind", [MinIdClient, SinceIdClient])
def test_what_is_returned_again_does_not_fill_a_page(late, kind):
    """A client that asks on while a page is full comes to an end."""
    client, again = late.begin(kind, limit=3), []
    late.time.pass_ms(60_000)
    posts = sorted(late.post(ago_s=120) for _ in range(3))
    assert client.poll() == posts[::-1], "all are new, so the page is full"
    for _ in range(3):
        late.time.pass_ms(3_000)
        above = late.post()
        page = client.poll()
        assert page[0] == above and len(page) == 2
        again += page[1:]
    assert sorted(again) == posts


@BOTH
def test_by_since_id_they_come_after_a_page_for_which_the_client_goes_down(late):
    client = late.begin(SinceIdClient, limit=3)
    late.time.pass_ms(600_000)
    below = [late.post(ago_s=900 - n) for n in range(5)]
    above = [late.post(ago_s=4 - n) for n in range(4)]
    late.time.pass_ms(1_500)
    assert client.poll() == [*below[2::-1], *above[::-1]], "it polls once more"
    assert client.poll() == below[4:2:-1]
    late.time.pass_ms(60_000)
    assert client.poll() == []


def test_since_id_with_max_id_is_a_range(late):
    """Nothing below since_id, and no poll: the next one returns what is late."""
    oldest = late.post()
    caller, path = Caller(late.me), "/api/v1/timelines/home"
    late.time.pass_ms(60_000)
    below, above = late.post(ago_s=30), [late.post(ago_s=4 - n) for n in range(4)]
    for since, shown in ((oldest, [*above[2::-1], below]), (below, above[2::-1])):
        window = {"since_id": since.public, "max_id": above[-1].public}
        assert ids_of(caller.get(path, window)) == [one.public for one in shown]
    later = late.post(ago_s=50)
    ids = ids_of(caller.get(path, {"since_id": above[-1].public}))
    assert later.public in ids


def test_a_full_page_by_since_id_owes_them_to_who_does_not_go_down(late):
    late.post()
    cursor = late.read(Window(20)).newer
    late.time.pass_ms(60_000)
    below = late.post(ago_s=120)
    above = [late.post(ago_s=4 - n) for n in range(4)]
    page = late.read(Window(2, since_id=cursor))
    assert page.newer == above[-1].public
    late.time.pass_ms(60_000)
    again = late.read(Window(20, since_id=page.newer))
    assert below.public in [post.public for post in map(id_of, again.items)]


def id_of(status):
    return PostId.from_public(status.split(b'"')[3].decode())


@BOTH
def test_the_rules_apply_to_them(late):
    client = late.begin()
    late.time.pass_ms(60_000)
    deleted, muted = late.post(ago_s=120), late.post(ago_s=130, author=late.other)
    delete_post(deleted)
    mute(late.me, late.other)
    assert client.poll() == []
    assert muted not in client.seen


def test_a_cursor_that_is_an_own_post_was_seen_before_it_was_indexed(late):
    client = MinIdClient(late.read)
    own = publish(late.me, clock_s=late.time.clock_s)
    assert client.poll() == [own]
    redis().call("FLUSHDB")
    late.time.pass_ms(900)
    below = late.post(ago_s=1)
    late.time.pass_ms(900)
    drain_all()
    assert below < own
    assert below in client.poll()


@BOTH
def test_two_equal_clients_with_one_token_get_each_late_post(late):
    """Nothing tells them apart, so the second one gets it with the page that moves it on."""
    clients = [late.begin(), late.begin()]
    for client in clients:
        client.poll()
    late.time.pass_ms(20_000)
    below = late.post(ago_s=120)
    assert [client.poll() for client in clients] == [[below], []]
    late.time.pass_ms(20_000)
    above = late.post()
    assert [client.poll() for client in clients] == [[above, below]] * 2
    late.time.pass_ms(60_000)
    above = late.post()
    assert [client.poll() for client in clients] == [[above]] * 2


@pytest.mark.parametrize(("kind", "limit"), [(SinceIdClient, 20), (MinIdClient, 19)])
def test_clients_with_other_parameters_get_it_at_once(late, kind, limit):
    clients = [late.begin(), late.begin(kind, limit)]
    for client in clients:
        client.poll()
    late.time.pass_ms(20_000)
    below = late.post(ago_s=120)
    for _ in range(2):
        assert clients[0].poll() == clients[1].poll() == ([below] if _ == 0 else [])


def test_who_goes_down_a_page_takes_no_late_post_from_another_client_with_the_token(late):
    """All three clients begin at the same cursor, and the second and third end at another one."""
    late.post()
    first, *others = (SinceIdClient(late.read, limit=3) for _ in range(3))
    late.time.pass_ms(60_000)
    made = [late.post(ago_s=9 - n, author=late.author) for n in range(4)]
    first.poll()
    assert first.seen >= set(made)
    late.time.pass_ms(60_000)
    below = late.post(ago_s=90)
    above = [late.post() for _ in range(4)]
    for client in others:
        client.poll_to_end()
        assert client.seen >= {below, *made, *above}
    first.poll_to_end()
    assert first.seen >= {below, *above}


def test_who_goes_down_gets_what_another_client_with_the_token_got_just_now(late):
    late.post()
    clients = [SinceIdClient(late.read, limit=3) for _ in range(2)]
    late.time.pass_ms(600_000)
    late.post()
    for client in clients:
        client.poll()
    late.time.pass_ms(60_000)
    below = [late.post(ago_s=900 - n) for n in range(7)]
    late.take_turns(clients)
    for client in clients:
        assert client.seen >= set(below)


@pytest.mark.parametrize("count", [6, 12])
@pytest.mark.parametrize("to_end", [False, True])
def test_equal_clients_get_more_late_posts_than_a_page(late, count, to_end):
    clients = [late.begin(limit=3), late.begin(limit=3)]
    clients[0].poll_to_end()
    late.time.pass_ms(60_000)
    below = {late.post(ago_s=900 - n) for n in range(count)}
    late.take_turns(clients, to_end)
    assert [below - client.seen for client in clients] == [set(), set()]


@pytest.mark.parametrize("way", ["since_id", "an ordinary page", "a page around it"])
def test_a_client_that_came_otherwise_gets_what_another_one_with_the_token_got(late, way):
    """The record of the cursor is of both, however they came there."""
    first, other = late.begin(), late.begin(SinceIdClient)
    first.poll_to_end()
    late.time.pass_ms(60_000)
    above = late.post()
    assert first.poll() == [above]
    if way == "since_id":
        assert other.poll() == [above]
    else:
        around = above if way == "a page around it" else None
        other = MinIdClient(lambda window: late.read(window, around if window.is_newest else None))
    late.time.pass_ms(10_000)
    below = late.post(ago_s=120)
    assert first.poll() == [below]
    assert other.poll() == ([below] if way == "since_id" else []), "by since_id it is another one"
    late.time.pass_ms(10_000)
    above = late.post()
    assert first.poll() == other.poll() == [above, below]


def test_what_one_client_got_on_its_way_is_not_kept_from_one_with_an_ordinary_page(late):
    """The ordinary page was read before the post arrived, and ends at the same cursor."""
    first = late.begin()
    late.time.pass_ms(60_000)
    above = late.post()
    other = MinIdClient(late.read)
    late.time.pass_ms(10_000)
    below = late.post(ago_s=120)
    assert first.poll() == [above, below]
    late.time.pass_ms(90_000)
    later = late.post()
    assert other.poll() == [later, below]


@pytest.mark.parametrize("is_moving", [False, True])
def test_a_post_whose_push_is_repeated_is_returned_at_most_twice(late, is_moving):
    """By a retry, or by each chunk of a big fan-out."""
    client = late.begin()
    late.time.pass_ms(60_000)
    below = late.post(ago_s=120)
    for _ in range(12):
        if is_moving:
            late.post()
        client.poll()
        late.time.pass_ms(1_000)
        recent_index().settle_for(shard_of(late.me), [below])
        late.time.stamp()
    late.time.pass_ms(3_000)
    late.post()
    client.poll()
    got = [post for answer in client.got for post in answer]
    assert got.count(below) == (1 if is_moving else 2)


READS = {"replicated": "read_late_posts", "by_author": "load_packs"}


def test_a_shard_that_is_away_owes_its_late_posts(each_index, late, monkeypatch):
    client = late.begin()
    late.time.pass_ms(60_000)
    below, above = late.post(ago_s=120), late.post()
    with monkeypatch.context() as patch:
        patch.setattr(f"timelines.recent.{each_index}.{READS[each_index]}", fail)
        assert client.poll() == [above]
        late.time.pass_ms(60_000)
        assert client.poll() == []
        with patch.context() as inner:
            later = late.post()
            inner.setattr("timelines.feeds.polled.save_records", lambda _, changes: not changes)
            with pytest.raises(OperationalError):
                client.poll()
        assert client.poll() == [later]
    assert below in client.poll()
    late.time.pass_ms(60_000)
    assert client.poll() == []


def fail(*_):
    raise OperationalError


def test_without_records_posts_are_repeated_and_not_lost(late, monkeypatch):
    client = late.begin()
    late.time.pass_ms(60_000)
    below = late.post(ago_s=120)
    poller = records.Poller(late.me, "home", "token")
    assert client.poll() == [below]
    for field in redis().call("HKEYS", poller.key):
        if field != records.SINCE:
            redis().call("HSET", poller.key, field, "garbage")
    late.time.pass_ms(60_000)
    assert client.poll() == [below], "records that cannot be read"
    redis().call("SET", poller.key, "of another type")
    late.time.pass_ms(60_000)
    above = late.post()
    assert client.poll() == [above, below]
    assert redis().call("TYPE", poller.key) == b"hash", "it is written again"
    late.time.pass_ms(60_000)
    assert client.poll() == []

    def away(*_):
        raise RedisAway

    with monkeypatch.context() as patch:
        patch.setattr(records, "redis", away)
        assert set(client.poll()) <= client.seen


def test_a_poll_costs_a_query_or_the_packs_and_the_trips_of_its_record(each_index, late):
    of_index = {"replicated": (1, 0), "by_author": (0, 2)}[each_index]
    client = late.begin()
    client.poll()
    with count_calls() as calls:
        client.poll()
    assert (queries(calls), calls.round_trips - 2) == of_index, "nothing new"
    late.post()
    client.poll()
    late.time.pass_ms(1_000)
    late.post()
    home_page(late.me, Window(20))
    load_packs(late.followed)
    with count_calls() as calls:
        assert len(client.poll()) == 1
    assert (queries(calls), calls.round_trips - 4) == of_index


def queries(calls):
    """Without those of the clock."""
    return len([one for one in calls.statements if "UPDATE" not in one.sql])


def test_over_http_each_token_has_its_own_records(late):
    late.post()
    one, other = Caller(late.me), Caller(late.me)
    path = "/api/v1/timelines/home"
    newest = ids_of(one.get(path))[0]
    first = one.get(path, {"min_id": newest})
    assert ids_of(first) == ids_of(other.get(path, {"min_id": newest})) == []
    late.time.pass_ms(60_000)
    late.post(ago_s=120)
    for caller in (one, other):
        answer = caller.get(path, {"min_id": newest})
        assert len(ids_of(answer)) == 1
        assert f"min_id={newest}>" in answer["Link"]
        assert ids_of(caller.get(path, {"min_id": newest})) == []
