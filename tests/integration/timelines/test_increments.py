"""Increments from a post to an answer, on a real Redis; processes that share an index, and die."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from infra.caching.client import redis
from posts.ids import PostId
from relations.actions.follow import follow
from tests.integration.timelines.last_post_indexes import (
    authors_since,
    begin_long_ago,
    catch_up,
    no_thread,
    second_now,
    since,
)
from tests.other_process import environment_of_this_test
from tests.redis_away import redis_away, wait_for_redis
from tests.waiting import until
from tests.world import make_accounts, publish
from timelines.increments.last_post_index import CELL_BYTES, CHUNK
from timelines.increments.post_stream import A_READ, LAG_S, POSTS, STREAM, add_to_stream
from timelines.increments.queries import STALE_MS, forget_increments, increments

# The first question starts the thread. Then it prints an answer every 0.05 s.
OTHER = """
import sys, time, django
django.setup()
import numpy as np
from posts.ids import PostId
from timelines.increments.last_post_index import CELL_BYTES, CHUNK
from timelines.increments.queries import increments
since = PostId(int(sys.argv[1]), 0, 0)
while True:
    print(increments().authors_since(np.array([int(sys.argv[2])]), since), flush=True)
    time.sleep(0.05)
"""


@pytest.fixture
def index(world: None) -> Iterator[None]:
    with no_thread():
        increments()._path.unlink(missing_ok=True)  # accounts of tests have the same ids
        begin_long_ago()
        yield


def test_a_drained_post_is_found(index: None, drain: Callable[[], int]) -> None:
    author, other = make_accounts(2)
    post = publish(author)
    assert authors_since([author, other]) == []
    drain()
    catch_up()
    assert authors_since([author, other]) == [author]
    assert authors_since([author, other], post) == []


def test_a_second_post_within_the_same_second_is_found(
    index: None, drain: Callable[[], int]
) -> None:
    (author,) = make_accounts(1)
    at = time.time()
    first, second = (publish(author, clock_s=lambda: at) for _ in range(2))
    drain()
    catch_up()
    assert (first.second, second.sequence) == (second.second, 1)
    assert authors_since([author], first) == [author]


def test_more_than_one_read_is_applied_in_one_turn(index: None) -> None:
    now = second_now()
    for author in range(1, A_READ + 2):
        add_to_stream([PostId(now, author, 0)])
    catch_up()
    assert authors_since([1, A_READ + 1]) == [A_READ + 1, 1]


def test_before_anybody_applied_it_is_unknown(world: None) -> None:
    with no_thread():
        increments()._path.unlink(missing_ok=True)
        assert authors_since([1]) is None
        catch_up()
        assert authors_since([1]) is None, "what came before is not known"
        assert authors_since([1], since(-LAG_S - 1)) == []


def turned_back() -> None:
    """A server that was restored from an old snapshot and went on."""
    redis().call("DEL", STREAM)
    redis().call("XADD", STREAM, "1-1", "m", b"long ago")
    add_to_stream([PostId(second_now(), 9, 0)])


def trimmed() -> None:
    for _ in range(3):
        add_to_stream([PostId(5, 9, 0)])
    redis().call("XTRIM", STREAM, "MAXLEN", 1)


def replaced() -> None:
    """The same id, another entry."""
    entry_id = redis().call("XREVRANGE", STREAM, "+", "-", "COUNT", 1)[0][0]
    redis().call("DEL", STREAM)
    redis().call("XADD", STREAM, entry_id, "m", b"others")


def flushed() -> None:
    redis().call("FLUSHDB")


def cut() -> None:
    """Two entries that lost bytes: together they have as many as whole posts have."""
    for half in (b"\xff" * 5, b"\xff" * 15):
        redis().call("XADD", STREAM, "*", POSTS, half)


def of_another_kind() -> None:
    """Its author would be far out, and the index has cells for all ids below it: 20 GB."""
    redis().call("XADD", STREAM, "*", POSTS, b"[[1, 2], 3, 4, 5, 6]")


@pytest.mark.parametrize("lose", [turned_back, trimmed, replaced, flushed, cut, of_another_kind])
def test_what_was_lost_makes_it_unknown_then_right(index: None, lose: Callable[[], None]) -> None:
    assert authors_since([9]) == []
    lose()
    catch_up()
    assert authors_since([9]) is None
    assert increments()._path.stat().st_size < 2 * CELL_BYTES * CHUNK
    later = second_now() + LAG_S + 1
    assert authors_since([9], PostId(later, 0, 0)) == []
    add_to_stream([PostId(later + 1, 9, 0)])
    catch_up()
    assert authors_since([9], PostId(later, 0, 0)) == [9]


def test_the_stream_is_cut_by_its_length(index: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timelines.increments.post_stream.MOST_ENTRIES", 100)
    for _ in range(1_000):
        add_to_stream([PostId(5, 9, 0)])
    assert redis().call("XLEN", STREAM) < 300


def test_an_index_without_updates_is_unknown(index: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = increments()
    later = int(time.time() * 1000) + STALE_MS
    monkeypatch.setattr(asked, "_clock_ms", lambda: later)
    assert authors_since([9]) is None


def test_without_redis_it_is_unknown_after_a_moment_and_right_again_with_it(index: None) -> None:
    cursor, snapshot = since(), increments().snapshot()
    assert snapshot is not None
    with redis_away():
        before = list(snapshot.last_posts.header)
        catch_up()
        assert list(snapshot.last_posts.header) == before, "no process claims to have caught up"
    wait_for_redis()
    add_to_stream([PostId(second_now(), 9, 0)])
    catch_up()
    assert authors_since([9], cursor) == [9]


def test_a_process_that_starts_goes_on_where_the_last_one_ended(index: None) -> None:
    cursor = since()
    add_to_stream([PostId(second_now(), 9, 0)])
    forget_increments()
    catch_up()
    assert authors_since([9], cursor) == [9]


def test_a_cleared_folder_is_filled_again(index: None) -> None:
    increments()._path.unlink()
    catch_up()
    cursor = PostId(second_now() + LAG_S + 1, 0, 0)
    forget_increments()
    catch_up()
    assert authors_since([9], cursor) == []


def test_a_cleared_lock_is_nobodys(index: None) -> None:
    """Otherwise this process and one that locks the new file would both hold the lock."""
    holder = increments().updater
    holder._lock_path.unlink()
    increments.cache_clear()
    catch_up()
    assert not holder.run_once()


def test_a_folder_that_others_may_write_to_is_not_used(index: None) -> None:
    folder = increments()._path.parent
    folder.chmod(0o777)
    forget_increments()
    try:
        increments().updater.run_once()
        assert increments().updater._lock is None
    finally:
        folder.chmod(0o700)


def test_one_process_at_a_time_applies(index: None) -> None:
    holder = increments().updater
    increments.cache_clear()
    assert not increments().updater.run_once()
    holder.release_lock()
    assert increments().updater.run_once()


def test_a_forked_child_does_not_hold_its_parents_lock(index: None) -> None:
    begun, begins = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(begins, b"!")
        signal.pause()
    try:
        os.read(begun, 1)
        forget_increments()
        assert increments().updater.run_once()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(begun), os.close(begins)


class Other:
    """Another process that asks for one account's posts, again and again."""

    def __init__(self, author: int, cursor: PostId) -> None:
        command = [sys.executable, "-c", OTHER, str(cursor.second), str(author)]
        environment = environment_of_this_test()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)

    def says(self, answer: str) -> None:
        """Reads until this answer comes."""
        output = self.process.stdout
        assert output is not None
        until(lambda: output.readline().strip() == answer)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def test_another_process_sees_a_post_and_whoever_is_left_applies(
    index: None, drain: Callable[[], int]
) -> None:
    author, follower = make_accounts(2)
    follow(follower, author)
    drain()
    catch_up()
    cursor = PostId(second_now() - 1, 0, 0)
    increments().updater.release_lock()  # this process is gone as far as the others know
    others: list[Other] = []
    try:
        for _ in range(2):
            others.append(Other(author, cursor))
            others[-1].says("[]")
        others[0].kill()  # who was first applied; the other one waited for the lock
        publish(author)
        drain()
        others[1].says(f"[{author}]")
    finally:
        for other in others:
            other.kill()
