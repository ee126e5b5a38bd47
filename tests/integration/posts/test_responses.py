"""Reposts, replies and favourites: set once, counted on the post by the drain, and undone."""

import threading
from functools import partial

import pytest
from django.db import transaction

from accounts.errors import AccountNotFound
from counters.kinds import CounterKind
from infra.changes.registry import Delivery
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.record_responses import write_responses
from posts.actions.repost import repost, undo_repost
from posts.changes import PostCreated, PostDeleted, PostMarked
from posts.consumers import record_responses
from posts.ids import PostId
from posts.models import Post, Response, ViewerMark
from posts.types import Draft, Kind, ResponseRow, Target
from tests.budgets import count_calls
from tests.races import failures, run_together
from tests.truth import assert_drained_truth, counts, everything_written, post_counts
from tests.waiting import until
from tests.world import NOW, make_account, make_accounts, publish

WAITING = "SELECT 1 FROM pg_locks WHERE NOT granted LIMIT 1"
REPLIES, REPOSTS, FAVOURITES = CounterKind.REPLIES, CounterKind.REPOSTS, CounterKind.FAVOURITES


@pytest.fixture
def author(world):
    return make_account()


@pytest.fixture
def original(author):
    return publish(author)


def reply(author_id: int, to: PostId) -> PostId:
    return create_post(author_id, Draft("so?", in_reply_to=to))


def favourite(owner_id: int, post_id: PostId, is_on: bool = True) -> bool:
    return mark_post(owner_id, post_id, Kind.FAVOURITE, is_on)


def counts_of(post_id: PostId) -> tuple[int, int, int]:
    found = post_counts()
    return tuple(
        found[post_id.author_id, post_id.moment, k] for k in (REPLIES, REPOSTS, FAVOURITES)
    )


def test_repost_is_a_post_of_its_own_with_a_target(original, drain):
    ann = make_account()
    event = repost(ann, original)
    row = Post.objects.of(ann).get(moment=event.moment)
    assert (row.kind, row.target_author, row.target_moment) == (2, *_where(original))
    assert (row.text, row.deleted_at) == ("", None)
    assert counts() == {
        (original.author_id, CounterKind.POSTS): 1,
        (ann, CounterKind.POSTS): 1,
    }
    assert counts_of(original) == (0, 0, 0), "the post's shard has not been told yet"
    drain()
    assert counts_of(original) == (0, 1, 0)
    assert_drained_truth()


def _where(post_id: PostId) -> tuple[int, int]:
    return post_id.author_id, post_id.moment


def test_all_of_them_are_counted_and_uncounted(original, drain):
    ann, bob = make_accounts(2)
    replies = [reply(ann, original), reply(ann, original), reply(bob, original)]
    repost(ann, original)
    repost(original.author_id, original)
    favourite(bob, original)
    drain()
    assert counts_of(original) == (3, 2, 1)
    delete_post(replies[1])
    undo_repost(ann, original)
    favourite(bob, original, False)
    drain()
    assert counts_of(original) == (2, 1, 0)
    assert_drained_truth()


def test_bookmarks_leave_nothing_on_the_post(original, drain):
    ann = make_account()
    assert mark_post(ann, original, Kind.BOOKMARK, True)
    drain()
    assert ViewerMark.objects.of(ann).get().is_on
    assert not Response.objects.of(original.author_id).exists()
    assert_drained_truth()


def test_twice_is_once(original, drain):
    ann = make_account()
    first = repost(ann, original)
    favourite(ann, original)
    before = everything_written()
    assert repost(ann, original) == first
    assert not favourite(ann, original)
    assert everything_written() == before
    drain()
    assert counts_of(original) == (0, 1, 1)


def test_undoing_what_was_not_done_changes_nothing(original):
    ann = make_account()
    before = everything_written()
    assert not undo_repost(ann, original)
    assert not favourite(ann, original, False)
    assert everything_written() == before


def test_reposting_again_is_another_repost_and_one_response(original, drain):
    ann = make_account()
    ids = []
    for _ in range(3):
        ids.append(repost(ann, original))
        undo_repost(ann, original)
    ids.append(repost(ann, original))
    assert ids == sorted(set(ids))
    drain()
    (response,) = Response.objects.of(original.author_id)
    assert (response.at, response.is_on) == (ids[-1].moment, True)
    assert_drained_truth()


def test_undoing_works_when_the_post_is_gone(original, drain):
    ann = make_account()
    repost(ann, original)
    favourite(ann, original)
    drain()
    delete_post(original)
    assert undo_repost(ann, original)
    assert favourite(ann, original, False)
    drain()
    assert counts_of(original) == (0, 0, 0)
    assert_drained_truth()


def test_nobody_without_an_account_responds(original):
    before = everything_written()
    for act in (repost, undo_repost, favourite, reply):
        with pytest.raises(AccountNotFound):
            act(2_000_000_000, original)
    assert everything_written() == before


def test_a_repost_by_16_at_once_is_one(original, drain):
    ann = make_account()
    ids = run_together([partial(repost, ann, original)] * 16)
    assert failures(ids) == []
    assert len(set(ids)) == 1
    drain()
    assert counts_of(original) == (0, 1, 0)
    assert_drained_truth()


def test_reposting_and_taking_back_at_once_end_in_one_or_none(original, drain):
    ann = make_account()
    acts = [partial(repost, ann, original), partial(undo_repost, ann, original)] * 8
    assert failures(run_together(acts)) == []
    drain()
    assert counts_of(original) in {(0, 0, 0), (0, 1, 0)}
    assert_drained_truth()


def test_two_that_record_one_response_at_once_both_succeed_and_count_it_once(original):
    """Both read that there is no row. The later writer waits for the other's row, and records
    again when that is committed."""
    ann, alias = make_account(), shard_of(original.author_id)
    favourite(ann, original)
    response = ResponseRow(*_identity(original, ann), at=1, revision=1, is_on=True)
    record = partial(write_responses, alias, [response])
    is_written = threading.Event()

    def record_first():
        with transaction.atomic(using=alias):
            record()
            is_written.set()
            until(lambda: fetch_one(alias, WAITING) == (1,))

    def record_second():
        is_written.wait()
        record()

    assert failures(run_together([record_first, record_second])) == []
    assert counts_of(original) == (0, 0, 1)


def _identity(post_id: PostId, responder_id: int) -> tuple[int, int, int, int, int]:
    return post_id.author_id, post_id.moment, int(Kind.FAVOURITE), responder_id, 0


def test_a_storm_of_favourites_is_counted_right(original, drain):
    """Five people set and end theirs while the drain runs: a check in the database refuses counts
    below zero."""
    people = make_accounts(5)
    acts = [
        partial(favourite, person, original, on) for person in people for on in (True, False, True)
    ]
    assert failures(run_together([*acts, drain, drain])) == []
    drain()
    assert_drained_truth()


def test_deleting_the_post_while_it_is_reposted(original, drain):
    people = make_accounts(4)
    acts = [partial(repost, person, original) for person in people]
    answers = run_together([*acts, partial(delete_post, original)])
    assert failures(answers) == []
    drain()
    assert counts_of(original) == (0, 0, 0), "they ended with it"
    assert_drained_truth()


class TestDeliveries:
    """Twice, late, out of order: what is recorded is what the rows are."""

    def of(self, owner_id: int, payload: object, version: int = 1) -> Delivery:
        return Delivery(version, owner_id, NOW, payload)

    def test_again(self, original, drain):
        ann = make_account()
        event = repost(ann, original)
        favourite(ann, original)
        drain()
        before = everything_written()
        target = Target(Kind.REPOST, *_where(original))
        again = [
            self.of(ann, PostCreated(event.moment, 0, 1, target)),
            self.of(ann, PostMarked(Kind.FAVOURITE, *_where(original))),
        ]
        for _ in range(2):
            record_responses(shard_of(ann), again)
        assert everything_written() == before

    def test_the_end_before_the_beginning(self, original, drain):
        ann = make_account()
        answer = reply(ann, original)
        delete_post(answer)
        target = Target(Kind.REPLY, *_where(original))
        ended = self.of(ann, PostDeleted(answer.moment, 1, 2, target))
        begun = self.of(ann, PostCreated(answer.moment, 0, 1, target))
        for delivery in (ended, begun):
            record_responses(shard_of(ann), [delivery])
            assert counts_of(original) == (0, 0, 0)
        drain()
        assert_drained_truth()

    def test_an_old_repost_after_the_new_one(self, original, drain):
        ann = make_account()
        old = repost(ann, original)
        undo_repost(ann, original)
        new = repost(ann, original)
        target = Target(Kind.REPOST, *_where(original))
        for event in (new, old, new):
            record_responses(shard_of(ann), [self.of(ann, PostCreated(event.moment, 0, 1, target))])
            assert counts_of(original) == (0, 1, 0)
        drain()
        assert_drained_truth()

    def test_news_of_a_mark_that_was_ended_meanwhile(self, original, drain):
        ann = make_account()
        favourite(ann, original)
        favourite(ann, original, False)
        news = self.of(ann, PostMarked(Kind.FAVOURITE, *_where(original)))
        record_responses(shard_of(ann), [news])
        assert counts_of(original) == (0, 0, 0)
        drain()
        assert_drained_truth()

    def test_a_plain_post_costs_nothing(self, author):
        with count_calls() as calls:
            record_responses(shard_of(author), [self.of(author, PostCreated(5, 0, 1))])
        assert (calls.statements, calls.round_trips) == ([], 0)
