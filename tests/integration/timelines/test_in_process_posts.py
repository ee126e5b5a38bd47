"""Posts in process memory: a deleted or hidden post is not shown any more."""

import time
from typing import Any

import pytest

from infra.api.pages import Window
from infra.caching.client import redis
from infra.caching.invalidation_log import (
    FIELD,
    LOG_KEY,
    MOST_ENTRIES,
    InvalidationLog,
    LogEntryKind,
    LogOffset,
    log_command,
)
from infra.caching.metrics import READS
from posts.actions.delete_post import delete_post
from posts.cache.in_process import (
    FAMILY,
    InProcessPosts,
    in_process_posts,
    post_invalidation_command,
)
from posts.ids import EPOCH, PostId
from posts.queries.statuses import load_status_json
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.integration.timelines.homes import first_page, ids_of
from tests.redis_away import redis_away
from tests.world import make_accounts, publish
from timelines.queries.author import author_page
from timelines.queries.author_batches import AuthorTimelineQuery

FINISHED_HITS = READS.labels(FAMILY, "process", "hit")
POST, OTHER = PostId(5, 7, 0), PostId(6, 7, 0)


class Process:
    """A second web process: its own memory, the same Redis."""

    def __init__(self) -> None:
        self.log = InvalidationLog()
        self.memory = InProcessPosts(self.log)

    def read_log(self) -> LogOffset | None:
        return self.log.read()

    def load(self, *posts: PostId) -> LogOffset | None:
        offset = self.read_log()
        self.memory.keep(dict.fromkeys(posts, b"{}"), offset)
        return offset

    def has(self, post: PostId) -> bool:
        return post in self.memory.find([post], self.read_log())


def invalidate(post: PostId, at_s: float | None = None) -> None:
    redis().call(*post_invalidation_command(post, time.time() if at_s is None else at_s))


@pytest.fixture
def process(world: None) -> Process:
    return Process()


def test_a_post_is_in_memory_until_it_is_invalidated(process: Process) -> None:
    process.load(POST, OTHER)
    assert process.has(POST)
    invalidate(POST)
    assert not process.has(POST)
    assert process.has(OTHER)


def test_a_lost_log_empties_the_memory(process: Process) -> None:
    process.load(POST)
    invalidate(POST)
    redis().call("DEL", LOG_KEY)
    assert not process.has(POST)
    process.load(OTHER)
    assert process.has(OTHER), "the process starts again"


def test_a_log_restarted_by_another_process_empties_the_memory(process: Process) -> None:
    process.load(POST)
    invalidate(POST)
    redis().call("DEL", LOG_KEY)
    Process().load(OTHER)
    assert not process.has(POST)


def test_a_log_restarted_in_the_same_millisecond_is_another_log(process: Process) -> None:
    offset = process.load(POST)
    assert offset is not None
    redis().call("DEL", LOG_KEY)
    redis().call("XADD", LOG_KEY, offset.entry_id, FIELD, b"s8 others")
    assert not process.has(POST)


@pytest.mark.parametrize("kind", [LogEntryKind.FLUSH.value, b"b", b""])
def test_a_flush_or_an_unknown_kind_empties_the_memory(process: Process, kind: bytes) -> None:
    process.load(POST)
    command = log_command(LogEntryKind.POST, POST.packed, time.time())
    redis().call(*command[:-1], kind)
    assert not process.has(POST)
    process.load(OTHER)
    assert process.has(OTHER), "the process reads on"


def test_entries_of_other_kinds_leave_posts_in_memory(process: Process) -> None:
    process.log.register(LogEntryKind.ACCOUNT, lambda _: None)
    process.load(POST)
    redis().call(*log_command(LogEntryKind.ACCOUNT, b"1234", time.time()))
    assert process.has(POST)


def test_more_entries_than_one_read_returns_empty_the_memory(process: Process) -> None:
    process.load(OTHER)
    redis().run(
        [
            post_invalidation_command(PostId(second, 1, 0), time.time())
            for second in range(MOST_ENTRIES)
        ]
    )
    assert not process.has(OTHER)


def test_a_post_deleted_while_it_is_loaded_is_not_stored(process: Process) -> None:
    """One thread loads a post, it is deleted, another thread sees that, the first stores it."""
    offset = process.read_log()
    invalidate(POST)
    process.read_log()
    process.memory.keep({POST: b"{}"}, offset)
    assert not process.has(POST)


def test_a_slow_thread_does_not_move_the_offset_back(process: Process) -> None:
    process.load(OTHER)
    slow = process.log.ask()
    replies = redis().run(slow.commands())
    invalidate(POST)
    newest = process.read_log()
    slow.receive(replies)
    assert process.log.ask().since == newest


def test_the_log_is_cut_to_ten_minutes(process: Process) -> None:
    now = time.time()
    redis().run([post_invalidation_command(PostId(second, 1, 0), now) for second in range(300)])
    invalidate(POST, at_s=now + 700)
    assert redis().call("XLEN", LOG_KEY) < 300


def test_a_deleted_post_leaves_a_page_that_had_it_in_memory(world: None, drain: Any) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    kept, deleted = publish(friend), publish(friend)
    drain()
    assert set(first_page(me)) == set(first_page(me)) == {kept.public, deleted.public}
    delete_post(deleted)
    assert deleted in in_process_posts._posts, "nothing removed it from this process's memory"
    assert first_page(me) == [kept.public]
    assert deleted not in in_process_posts._posts


def test_memory_is_not_used_while_the_log_cannot_be_read(world: None, drain: Any) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    post = publish(friend)
    drain()
    first_page(me)
    assert post in in_process_posts._posts

    with redis_away():
        delete_post(post)
        with count_calls() as calls:
            assert first_page(me) == []
    assert calls.sql, "read from the shards"


def test_old_post_that_memory_lost_is_read_from_its_shard(world: None) -> None:
    """Redis caches no post of that age. Author and counts are still in memory, so the page may need
    no read from Redis."""
    me, author = make_accounts(2)
    follow(me, author)
    old = publish(author, clock_s=lambda: EPOCH + 100)
    for _ in range(2):
        assert first_page(me) == [old.public]
    in_process_posts.forget_all()
    assert first_page(me) == [old.public]


@pytest.mark.parametrize("end_entities", [False, True])
def test_a_deleted_post_leaves_the_reads_that_ask_the_log_with_the_posts(
    world: None, drain: Any, end_entities: bool
) -> None:
    """The memory is used before the answer of the log is there. Then the posts are loaded again.

    `end_entities`: only the fragments are in memory.
    """
    me, author = make_accounts(2)
    kept, deleted = publish(author), publish(author)
    drain()
    pages = AuthorTimelineQuery(author, me)
    for _ in range(2):
        assert list(load_status_json([kept, deleted], me)) == [kept, deleted]
    delete_post(deleted)
    if end_entities:
        in_process_posts.end_all_entities()
    assert deleted in in_process_posts._posts, "nothing removed it from this process's memory"
    assert list(load_status_json([kept, deleted], me)) == [kept]
    assert ids_of(author_page(pages, Window(20)).items) == [kept.public]


def test_single_posts_come_from_memory(world: None, drain: Any) -> None:
    me, author = make_accounts(2)
    post = publish(author)
    drain()
    for _ in range(2):
        load_status_json([post], me)
    before = FINISHED_HITS._value.get()
    assert list(load_status_json([post], me)) == [post]
    assert FINISHED_HITS._value.get() == before + 1
