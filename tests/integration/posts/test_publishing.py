"""Creating and deleting posts: ids that only grow, keys that publish once, tombstones.

A process is paused just before it stores the counts of a new post: others may count by then.
"""

from functools import partial
from itertools import count

import orjson
import pytest

from accounts.errors import AccountNotFound
from counters.kinds import CounterKind
from infra.caching.single import SingleClient
from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.cache.counts import post_counts
from posts.changes import PostCreated, PostDeleted
from posts.errors import PostNotFound
from posts.ids import EPOCH, SEQUENCES, PostId
from posts.models import Post, PublishedKey
from posts.reading.statuses import load_status_json
from posts.types import Draft, Kind
from tests.races import failures, run_together
from tests.truth import assert_drained_truth, counts, everything_written
from tests.world import drain_all, make_accounts, publish

NOW_S = EPOCH + 20_000_000
HELLO = Draft("hello", True, "careful", "en")


def at(now_s: float):
    return lambda: now_s


def row_of(post_id: PostId) -> Post:
    return Post.objects.of(post_id.author_id).get(moment=post_id.moment)


def kinds_of(author_id: int) -> list[str]:
    found = Change.objects.on(shard_of(author_id)).filter(owner_id=author_id).order_by("pk")
    return [change.kind for change in found]


def test_post_is_written_counted_and_told(ann):
    post_id = create_post(ann, HELLO, clock_s=at(NOW_S + 0.9))
    assert post_id == PostId(NOW_S - EPOCH, ann, 0)
    row = row_of(post_id)
    kept = (row.text, row.sensitive, row.spoiler_text, row.language, row.deleted_at)
    assert kept == ("hello", True, "careful", "en", None)
    assert counts() == {(ann, CounterKind.POSTS): 1}
    (change,) = Change.objects.on(shard_of(ann)).all()
    assert (change.kind, change.owner_id) == (PostCreated.kind, ann)
    assert change.payload == {"moment": post_id.moment, "before": 0, "after": 1}
    assert_drained_truth()


def test_nobody_without_an_account_publishes(world):
    before = everything_written()
    with pytest.raises(AccountNotFound):
        publish(2_000_000_000)
    assert everything_written() == before


def test_posts_of_one_second_are_told_apart_and_grow(ann):
    ids = [create_post(ann, HELLO, clock_s=at(NOW_S + n / 10)) for n in range(10)]
    assert [post_id.sequence for post_id in ids] == list(range(10))
    assert {post_id.second for post_id in ids} == {NOW_S - EPOCH}


def test_ids_grow_when_the_clock_goes_back(ann):
    clock = (NOW_S - 1_000 * step for step in count())
    ids = [create_post(ann, HELLO, clock_s=partial(next, clock)) for _ in range(5)]
    assert ids == sorted(set(ids))
    assert {post_id.second for post_id in ids} == {NOW_S - EPOCH}


def test_full_second_runs_over_into_the_next(ann):
    first = create_post(ann, HELLO, clock_s=at(NOW_S))
    fill = "INSERT INTO posts_post SELECT author_id, moment + n, text, sensitive, spoiler_text"
    execute(
        shard_of(ann),
        f"{fill}, language, NULL FROM posts_post, generate_series(1, %s) n",
        (SEQUENCES - 2,),
    )
    last, next_one, after = (create_post(ann, HELLO, clock_s=at(NOW_S)) for _ in range(3))
    assert last == first._replace(sequence=SEQUENCES - 1)
    assert next_one == PostId(first.second + 1, ann, 0)
    assert after == PostId(first.second + 1, ann, 1)
    assert create_post(ann, HELLO, clock_s=at(NOW_S + 2)) == PostId(first.second + 2, ann, 0)


def test_authors_at_the_same_second_do_not_meet(world):
    ann, bob = make_accounts(2)
    assert [create_post(a, HELLO, clock_s=at(NOW_S)).sequence for a in (ann, bob)] == [0, 0]


def test_posts_of_one_author_at_once_are_all_there(ann):
    ids = run_together([partial(create_post, ann, HELLO, clock_s=at(NOW_S))] * 16)
    assert failures(ids) == []
    assert sorted(post_id.sequence for post_id in ids) == list(range(16))
    assert_drained_truth()


def test_same_key_is_the_same_post(ann):
    first = create_post(ann, HELLO, "key")
    before = everything_written()
    assert create_post(ann, Draft("another"), "key") == first
    assert everything_written() == before


def test_keys_belong_to_their_author(world):
    ann, bob = make_accounts(2)
    assert create_post(ann, HELLO, "key").author_id == ann
    assert create_post(bob, HELLO, "key").author_id == bob


def test_one_key_by_16_at_once_is_one_post(ann):
    ids = run_together([partial(create_post, ann, HELLO, "key")] * 16)
    assert failures(ids) == []
    assert len(set(ids)) == 1
    assert counts() == {(ann, CounterKind.POSTS): 1}


def test_keys_hold_for_an_hour_and_do_not_pile_up(ann):
    old = [create_post(ann, HELLO, f"old {n}") for n in range(3)]
    kept = create_post(ann, HELLO, "kept")
    execute(
        shard_of(ann),
        "UPDATE posts_publishedkey SET created_at = now() - interval '61 min' WHERE key ~ 'old'",
    )
    assert create_post(ann, HELLO, "kept") == kept
    assert create_post(ann, HELLO, "old 0") != old[0]
    left = PublishedKey.objects.of(ann).values_list("key", flat=True)
    assert set(left) == {"kept", "old 0"}


def test_deleted_post_leaves_its_id_and_no_word(ann):
    post_id = create_post(ann, HELLO)
    assert delete_post(post_id) == "hello"
    row = row_of(post_id)
    assert (row.text, row.spoiler_text) == ("", "")
    assert row.deleted_at is not None
    assert counts() == {}
    assert kinds_of(ann)[-1] == PostDeleted.kind
    assert_drained_truth()


def test_deleting_twice_or_what_never_was_is_not_found(ann):
    post_id = create_post(ann, HELLO)
    delete_post(post_id)
    before = everything_written()
    for gone in (post_id, post_id._replace(sequence=9), post_id._replace(author_id=ann)):
        with pytest.raises(PostNotFound):
            delete_post(gone)
    with pytest.raises(AccountNotFound):
        delete_post(post_id._replace(author_id=2_000_000_000))
    assert everything_written() == before


def test_one_post_deleted_by_8_at_once_is_deleted_once(ann):
    post_id, _ = create_post(ann, HELLO), create_post(ann, HELLO)
    answers = run_together([partial(delete_post, post_id)] * 8)
    assert answers.count("hello") == 1
    assert all(isinstance(error, PostNotFound) for error in failures(answers))
    assert counts() == {(ann, CounterKind.POSTS): 1}


def test_id_of_a_deleted_post_is_never_given_again(ann):
    ids = []
    for _ in range(3):
        ids.append(create_post(ann, HELLO, clock_s=at(NOW_S)))
        delete_post(ids[-1])
    assert len(set(ids)) == 3


def test_publishing_and_deleting_at_once_keep_the_count(ann):
    ids = [create_post(ann, HELLO) for _ in range(8)]
    publishing = [partial(create_post, ann, HELLO)] * 8
    assert failures(run_together([*publishing, *(partial(delete_post, i) for i in ids)])) == []
    assert counts() == {(ann, CounterKind.POSTS): 8}
    assert_drained_truth()


def test_a_favourite_during_the_pause_is_counted(world, monkeypatch):
    author, fan = make_accounts(2)
    run, paused = SingleClient.run, []

    def others_run(post):
        drain_all()
        mark_post(fan, post, Kind.FAVOURITE, True)
        drain_all()

    def run_later(client, commands):
        new = [
            c for c in commands if c[0] == "SET" and c[1].startswith(post_counts.family.encode())
        ]
        if new and not paused:
            paused.append(True)
            moment = int(new[0][1].rpartition(b":")[2])
            assert failures(run_together([lambda: others_run(PostId.at(author, moment))])) == []
        return run(client, commands)

    monkeypatch.setattr(SingleClient, "run", run_later)
    post = publish(author)
    assert paused
    drain_all()
    status = orjson.loads(load_status_json([post], fan)[post])
    assert status["favourites_count"] == 1
