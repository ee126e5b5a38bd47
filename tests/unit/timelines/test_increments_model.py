"""Increments against a plain model: random histories of posts, losses, restarts and questions."""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from posts.ids import EPOCH, PostId
from timelines.increments.last_post_index import StreamPosition
from timelines.increments.post_stream import LAG_S, PostColumns, StreamEntries
from timelines.increments.queries import Increments
from timelines.increments.updater import Applier, Source, Updater

AUTHORS = range(1, 6)
BEGIN_S = 1_000
A_READ = 2


class Announced(NamedTuple):
    """A post that is or was in the stream."""

    post: PostId
    arrived: int

    @property
    def counts_as(self) -> int:
        return max(self.post.second, self.arrived - LAG_S)


@dataclass
class Stream:
    """What Redis does, in plain Python. `second` is its clock."""

    second: int = BEGIN_S
    entries: list[tuple[StreamPosition, list[Announced]]] = field(default_factory=list)
    added: int = 0

    def add(self, *posts: PostId) -> StreamPosition:
        self.added += 1
        position = StreamPosition((self.second + EPOCH) * 1_000, self.added, self.added * 77)
        self.entries.append((position, [Announced(post, self.second) for post in posts]))
        return position

    def read(self, since: StreamPosition) -> StreamEntries | None:
        places = [n for n, (position, _) in enumerate(self.entries) if position == since]
        if not places:
            return None
        fresh = self.entries[places[0] + 1 :][:A_READ]
        announced = [one for _, entry in fresh for one in entry]
        columns = [
            np.array(
                [row[n] for row in [(*one.post, one.arrived, 0) for one in announced]], np.int64
            )
            for n in (1, 0, 2, 3, 4)
        ]
        now = self.second if len(fresh) < A_READ else None
        last = fresh[-1][0] if fresh else since
        return StreamEntries(last, PostColumns(*columns), now)


class NoThread(Updater):
    def __init__(self) -> None: ...

    def start(self) -> None: ...


class Histories(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tideline-run-"))
        self.path = self.folder / "increments.index"
        self.stream = Stream()
        self.announced: list[Announced] = []  # all that ever came through the stream
        self.applied_at: int | None = None
        self.applied = 0  # how many of `announced` came before that
        self.is_lost, self.began_at = True, BEGIN_S
        self.latest: dict[int, PostId] = {}
        self.polled: tuple[PostId, int] | None = None
        self.restart()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    @rule()
    def restart(self) -> None:
        """The updater's process and the reading process were killed."""
        source = Source(self.stream.add, self.stream.read)
        self.applier = Applier(self.path, self._now_ms, source)
        self.increments = Increments(self.path, NoThread(), self._now_ms)

    @rule(authors=st.sets(st.sampled_from(AUTHORS), min_size=1), age=st.integers(0, 3 * LAG_S))
    def publish(self, authors: set[int], age: int) -> None:
        """One drain's batch: posts of `age` seconds ago, each author's in order."""
        posts = []
        for author in authors:
            before, second = self.latest.get(author), self.stream.second - age
            sequence = 0
            if before and before.second >= second:
                second, sequence = before.second, before.sequence + 1
            posts.append(PostId(second, author, sequence))
        self.latest |= {post.author_id: post for post in posts}
        self._announce(posts)

    @rule(data=st.data())
    def announce_again(self, data: Any) -> None:
        """A drain that died before it filed, or a replay: no author is new again."""
        if self.announced:
            again = data.draw(st.sampled_from(self.announced))
            self.stream.add(again.post)

    @rule(seconds=st.integers(1, 4))
    def wait(self, seconds: int) -> None:
        self.stream.second += seconds

    @rule()
    def apply(self) -> None:
        self.applier.catch_up()
        self.applied_at, self.applied = self.stream.second, len(self.announced)
        if self.is_lost:
            self.began_at, self.is_lost = self.stream.second, False

    @rule(how=st.sampled_from(["flush", "trim", "turn back", "file"]), count=st.integers(1, 3))
    def lose(self, how: str, count: int) -> None:
        """Turned back: to an older snapshot, after everything in the stream was applied."""
        if how == "turn back":
            self.apply()
            del self.stream.entries[-count:]
        elif how == "file":
            self.path.unlink(missing_ok=True)
        else:
            del self.stream.entries[: count if how == "trim" else None]
        self.is_lost = True

    @rule(back=st.integers(-1, 2 * LAG_S), author=st.sampled_from(AUTHORS))
    def ask(self, back: int, author: int) -> None:
        since = PostId(self.stream.second - back, author, 0)
        answer = self._ask(since)
        if answer is None:
            is_current = self.applied_at == self.stream.second and not self.is_lost
            assert not is_current or since.second < self.began_at + LAG_S, (
                "the index knows, but did not answer"
            )
            return
        assert self.applied_at is not None
        snapshot = self.increments.snapshot()
        assert snapshot is not None
        assert snapshot.may_have_newer(since) or answer == []
        newer = {one.post.author_id for one in self.announced[: self.applied] if one.post > since}
        assert newer <= set(answer), "every new author is named"
        for named in answer:
            of_theirs = [one for one in self.announced if one.post.author_id == named]
            assert any(one.post > since or one.counts_as >= since.second for one in of_theirs), (
                "every named author has a new post"
            )

    @rule()
    def poll(self) -> None:
        """Asks from the last `as_of`. Every post that arrived since is named, however late."""
        snapshot = self.increments.snapshot()
        if snapshot is None or not self._is_current():
            return
        if self.polled is not None:
            since, seen = self.polled
            answer = self._ask(since)
            came = {one.post.author_id for one in self.announced[seen : self.applied]}
            assert answer is None or came <= set(answer)
        self.polled = (PostId(snapshot.as_of, 0, 0), self.applied)

    @invariant()
    def no_more_is_claimed_than_was_applied(self) -> None:
        if hasattr(self, "increments"):
            snapshot = self.increments.snapshot()
            assert snapshot is None or snapshot.as_of <= self.stream.second - LAG_S

    def _announce(self, posts: list[PostId]) -> None:
        self.stream.add(*posts)
        self.announced += [Announced(post, self.stream.second) for post in posts]

    def _ask(self, since: PostId) -> list[int] | None:
        return self.increments.authors_since(np.array(AUTHORS, np.int64), since)

    def _is_current(self) -> bool:
        return self.applied_at == self.stream.second and not self.is_lost

    def _now_ms(self) -> int:
        return (self.stream.second + EPOCH) * 1_000


Histories.TestCase.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
TestHistories = Histories.TestCase


def test_a_post_lost_in_the_second_in_which_the_stream_began_again_is_not_denied() -> None:
    history = started()
    history.publish({3}, 0)
    history.lose("flush", 1)
    history.apply()
    for back in range(-1, LAG_S):
        history.ask(back, 1)
    history.wait(LAG_S + 1)
    history.apply()
    assert history._ask(PostId(history.stream.second, 1, 0)) == [], "known again"
    history.teardown()


def test_a_post_that_came_late_is_named_once_to_who_polls() -> None:
    history = started()
    history.wait(60)
    history.apply()
    history.poll()
    history.publish({3}, 50)
    history.apply()
    since = PostId(history.stream.second - LAG_S, 0, 0)
    assert history._ask(since) == [3]
    history.poll()
    history.wait(LAG_S + 1)
    history.apply()
    assert history._ask(PostId(history.stream.second - LAG_S, 0, 0)) == []
    history.teardown()


def test_a_post_that_is_told_again_is_no_news() -> None:
    history = started()
    history.publish({3}, 0)
    history.apply()
    history.wait(60)
    history.stream.add(history.announced[0].post)
    history.apply()
    assert history._ask(PostId(history.stream.second - 30, 0, 0)) == []
    history.teardown()


def started() -> Histories:
    history = Histories()
    history.begin()
    history.apply()
    return history
