"""Cached weeks: complete or absent, changed in place, and never a deleted post."""

from functools import partial

import orjson
import pytest

from infra.caching.client import redis
from infra.caching.questions import answer
from infra.changes.models import Change
from infra.changes.registry import Delivery
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.cache import single_posts, weeks
from posts.cache.weeks import BUSY, WEEK_S, WEEKS, ask_weeks, week_of
from posts.changes import PostCreated, PostDeleted
from posts.consumers import refresh_cached_weeks
from posts.ids import EPOCH, PostId
from posts.types import Draft
from tests.budgets import count_calls
from tests.races import failures, run_together
from tests.redis_away import redis_away
from tests.world import make_account, make_accounts

# The middle of a week, so that a few hours around it are in it.
NOW_S = EPOCH + 40 * WEEK_S + WEEK_S / 2


def post_at(author_id: int, now_s: float = NOW_S, text: str = "hello") -> PostId:
    return create_post(author_id, Draft(text), clock_s=lambda: now_s)


def load(*ids: PostId, now_s: float = NOW_S) -> dict[PostId, str]:
    """The text of those that exist, as a page gets them."""
    found = answer(ask_weeks(ids, now_s))
    return {i: orjson.loads(b"{%b}" % found[i])["content"][3:-4] for i in ids if i in found}


def key_of(post_id: PostId) -> bytes:
    return WEEKS.key(*week_of(post_id))


def forget(*ids: PostId) -> None:
    redis().run([("DEL", key_of(post_id)) for post_id in ids])


@pytest.fixture
def few(monkeypatch):
    """Weeks of more than five posts are busy ones."""
    monkeypatch.setattr(weeks, "MAX_WEEK_POSTS", 5)
    return 5


def test_warm_posts_of_many_authors_are_one_round_trip(world):
    ids = [post_at(author, NOW_S + n) for n in range(2) for author in make_accounts(5)]
    load(*ids)
    with count_calls() as calls:
        assert set(load(*ids)) == set(ids)
    assert (calls.sql.total(), calls.round_trips) == (0, 1)


def test_cold_week_is_two_queries_whatever_is_asked_of_it(ann):
    ids = [post_at(ann, NOW_S + n) for n in range(6)]
    load(ids[0])  # the server knows the scripts
    forget(ids[0])
    with count_calls() as calls:
        assert set(load(*ids[:3])) == set(ids[:3])
    # One round trip to read, one for the load token, one to write.
    assert (calls.sql.total(), calls.round_trips) == (2, 3)
    with count_calls() as calls:
        assert set(load(*ids[3:])) == set(ids[3:])
    assert calls.sql.total() == 0


def test_cold_weeks_of_one_shard_are_two_queries_together(world):
    authors = [a for a in make_accounts(12) if a % 4 == 0]
    ids = [post_at(author, NOW_S - n * WEEK_S) for n in range(2) for author in authors]
    forget(*ids)
    with count_calls() as calls:
        assert set(load(*ids)) == set(ids)
    assert calls.sql.total() == 2


def test_missing_in_a_cached_week_is_missing_without_a_query(ann):
    post_id = post_at(ann)
    load(post_id)
    never = post_id._replace(sequence=77)
    with count_calls() as calls:
        assert load(never) == {}
    assert calls.sql.total() == 0


def test_new_and_deleted_posts_change_the_week_in_place(ann):
    first = post_at(ann)
    load(first)
    second = post_at(ann, NOW_S + 1, "second")
    with count_calls() as calls:
        assert load(first, second) == {first: "hello", second: "second"}
    assert calls.sql.total() == 0
    delete_post(first)
    with count_calls() as calls:
        assert load(first, second) == {second: "second"}
    assert calls.sql.total() == 0


def test_deleted_post_is_gone_also_where_the_week_had_fallen_behind(ann, monkeypatch):
    first = post_at(ann)
    load(first)
    with monkeypatch.context() as patch:
        patch.setattr("infra.changes.append.inline_consumers_of", lambda kinds: [])
        post_at(ann, NOW_S + 1)
    delete_post(first)
    assert load(first) == {}


def test_posts_before_the_last_two_weeks_have_entries_of_their_own(ann):
    old = [post_at(ann, NOW_S - 2 * WEEK_S + n) for n in range(3)]
    redis().call("FLUSHDB")
    for costs in ((1, 3), (0, 1)):
        with count_calls() as calls:
            assert set(load(*old[:2])) == set(old[:2])
        assert (calls.sql.total(), calls.round_trips) == costs
    assert redis().call("DBSIZE") == 2
    delete_post(old[0])
    assert set(load(*old[:2])) == {old[1]}


def test_an_old_post_that_changes_while_it_is_loaded_is_not_cached(ann, monkeypatch):
    (old,) = (post_at(ann, NOW_S - 2 * WEEK_S) for _ in "1")
    redis().call("FLUSHDB")
    read = single_posts._read

    def read_and_delete(ids):
        loaded = read(ids)
        delete_post(old)
        return loaded

    with monkeypatch.context() as patch:
        patch.setattr(single_posts, "_read", read_and_delete)
        assert set(load(old)) == {old}
    assert load(old) == {}


def test_made_up_ids_lay_nothing_beyond_the_weeks_there_are(ann):
    _, this_week = week_of(post_at(ann))
    redis().call("FLUSHDB")
    for week in (0, this_week - 2, this_week + 1, this_week + 300):
        assert load(PostId(week * WEEK_S, ann, 0)) == {}
    assert redis().call("DBSIZE") == 0


def test_post_ahead_of_the_clock_is_found(ann):
    """An author's full seconds run ahead of the clock, also out of this week."""
    end_of_week = EPOCH + 41 * WEEK_S - 1
    ahead = post_at(ann, end_of_week + 1)
    assert set(load(ahead, now_s=end_of_week)) == {ahead}


def test_week_is_absent_for_others_than_its_author_and_week(ann):
    first = post_at(ann)
    earlier = post_at(make_account(), NOW_S - WEEK_S)
    assert key_of(first) != key_of(earlier)
    assert set(load(first, earlier)) == {first, earlier}


def test_busy_week_is_remembered_as_busy_and_read_by_key(ann, few):
    ids = [post_at(ann, NOW_S + n) for n in range(few + 1)]
    forget(ids[0])
    with count_calls() as calls:
        assert set(load(*ids)) == set(ids)
    assert calls.sql.total() == 3  # version, the week that is too large, the posts
    with count_calls() as calls:
        assert set(load(*ids[:2])) == set(ids[:2])
    assert (calls.sql.total(), calls.round_trips) == (0, 2)
    delete_post(ids[0])
    assert set(load(*ids)) == set(ids[1:])


def test_week_that_grows_busy_in_place_stops_growing(ann, few):
    first = post_at(ann)
    load(first)
    ids = [first, *(post_at(ann, NOW_S + n) for n in range(1, 20))]
    assert redis().call("HLEN", key_of(first)) <= few + 2
    assert set(load(*ids)) == set(ids)
    delete_post(ids[-1])
    assert set(load(*ids)) == set(ids[:-1])


def test_week_just_full_is_kept_whole(ann, few):
    first = post_at(ann)
    load(first)
    ids = [first, *(post_at(ann, NOW_S + n) for n in range(1, few))]
    with count_calls() as calls:
        assert set(load(*ids)) == set(ids)
    assert calls.sql.total() == 0
    assert redis().call("HEXISTS", key_of(first), BUSY) == 0


def test_without_redis_posts_come_from_the_shards(world):
    ids = [post_at(author) for author in make_accounts(5)]
    delete_post(ids[0])

    with redis_away():
        assert set(load(*ids)) == set(ids[1:])


def test_slow_loader_cannot_lay_a_post_that_was_deleted_meanwhile(ann, monkeypatch):
    post_id, other = post_at(ann), post_at(ann, NOW_S + 1)
    forget(post_id)
    read_ranges = weeks.read_ranges

    def read_then_be_late(*args):
        rows = read_ranges(*args)
        delete_post(post_id)
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(weeks, "read_ranges", read_then_be_late)
        load(post_id)
    assert load(post_id, other) == {other: "hello"}


def test_slow_loader_cannot_lay_a_week_without_a_post_made_meanwhile(ann, monkeypatch):
    post_id = post_at(ann)
    forget(post_id)
    read_ranges, made = weeks.read_ranges, []

    def read_then_be_late(*args):
        rows = read_ranges(*args)
        made.append(post_at(ann, NOW_S + 1))
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(weeks, "read_ranges", read_then_be_late)
        load(post_id)
    assert set(load(post_id, *made)) == {post_id, *made}


def deliveries_of(author_id: int) -> list[Delivery[PostCreated | PostDeleted]]:
    shapes = {PostCreated.kind: PostCreated, PostDeleted.kind: PostDeleted}
    rows = Change.objects.on(shard_of(author_id)).filter(owner_id=author_id).order_by("pk")
    return [Delivery(r.pk, r.owner_id, r.created_at, shapes[r.kind](**r.payload)) for r in rows]


@pytest.mark.parametrize("is_warm", [True, False])
def test_changes_twice_late_and_out_of_order_leave_the_week_right(ann, is_warm):
    first, second = post_at(ann), post_at(ann, NOW_S + 1, "second")
    delete_post(first)
    deliveries = deliveries_of(ann)
    if is_warm:
        load(first)
    for batch in (deliveries[::-1], deliveries[:1], deliveries[2:], deliveries):
        refresh_cached_weeks(shard_of(ann), batch)
        assert load(first, second) == {second: "second"}


def test_readers_and_writers_at_once_end_with_what_is_there(ann):
    ids = [post_at(ann, NOW_S + n) for n in range(8)]
    forget(ids[0])
    calls = [
        *[partial(load, *ids)] * 4,
        *[partial(delete_post, i) for i in ids[:4]],
        *[partial(post_at, ann, NOW_S + 100 + n) for n in range(4)],
    ]
    answers = run_together(calls)
    assert failures(answers) == []
    made = answers[-4:]
    assert set(load(*ids, *made)) == {*ids[4:], *made}
    forget(ids[0])
    assert set(load(*ids, *made)) == {*ids[4:], *made}


def test_links_of_another_address_are_not_found(ann):
    """The key names the site, since fragments carry absolute links."""
    assert single_posts.SITE.encode() in key_of(post_at(ann))
