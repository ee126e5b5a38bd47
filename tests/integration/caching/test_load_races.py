"""A load that began before a change: readers from after the change do not get what it read."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest
from django.db import connections

from accounts.actions.tokens import end_tokens_of_user
from accounts.types import Restriction
from infra.caching import loads_in_progress
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.types import Kind
from relations.actions.follow import follow, unfollow
from tests.herd import READS, Subject, forget_copies, hold_writes, lose, make_subject
from tests.world import drain_all, make_account, publish, restrict
from timelines.hot.actions.heat import heat_author
from timelines.hot.directory import HotAuthors
from timelines.hot.entries import push_hot_entries
from timelines.tags.actions.own_tags import add_own_tag, choose_at_home
from timelines.tags.types import TagListKind
from timelines.types import Entry


def _heat(subject: Subject) -> None:
    heat_author(shard_of(subject.author), subject.author)
    publish(subject.author)


# Nothing delays a reader before it is held.
HELD_WITHIN_S = 20


def _post_hot(subject: Subject) -> None:
    push_hot_entries({subject.author: [Entry.of_post(publish(subject.author))]})


def _follow_tag(subject: Subject) -> None:
    choose_at_home(subject.viewer, True)
    add_own_tag(subject.viewer, TagListKind.FOLLOWED, "tea")


CHANGES: Mapping[str, Callable[[Subject], object]] = {
    "accounts.profile": lambda s: restrict(s.author, Restriction.SUSPENDED),
    "accounts.actor": lambda s: restrict(s.author, Restriction.SUSPENDED),
    "accounts.token": lambda s: end_tokens_of_user(s.viewer),
    "counters.account": lambda s: follow(make_account(), s.author),
    "posts.counts": lambda s: mark_post(s.viewer, s.post_id, Kind.FAVOURITE, True),
    "posts.viewer_state": lambda s: mark_post(s.viewer, s.post_id, Kind.FAVOURITE, True),
    "posts.week": lambda s: delete_post(s.post_id),
    "relations.following": lambda s: follow(s.viewer, make_account()),
    "relations.followers": lambda s: follow(make_account(), s.author),
    "relations.quiet": lambda s: follow(s.viewer, make_account()),
    "relations.relationship": lambda s: unfollow(s.viewer, s.author),
    "timelines.home": lambda s: publish(s.author),
    "timelines.hot": _heat,
    "timelines.hot_entries": _post_hot,
    "timelines.home_tags": _follow_tag,
    "timelines.tag_entries": lambda s: publish(s.author, "#tea"),
}


@pytest.fixture
def subject(world: None) -> Subject:
    return make_subject()


@pytest.mark.parametrize("family", CHANGES)
def test_no_reader_from_after_a_change_gets_what_was_read_before(
    family: str, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(family, subject)
    forget_copies()
    with _slow_reader(family, subject, monkeypatch):
        CHANGES[family](subject)
        drain_all()
        forget_copies()
        after = _read(family, subject)
    forget_copies()
    stored = _read(family, subject)
    lose(family, subject)
    forget_copies()
    truth = _read(family, subject)
    assert (after, stored) == (truth, truth)


@contextmanager
def _slow_reader(family: str, subject: Subject, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inside the block another thread has read the source, and does not write the entry.

    It goes on when a thread waits for it.
    """

    def read() -> None:
        try:
            READS[family](subject)
        finally:
            connections.close_all()

    may_end = threading.Event()
    wait = loads_in_progress._wait
    patch.setattr(loads_in_progress, "_wait", lambda ended: (may_end.set(), wait(ended)))
    slow = threading.Thread(target=read)
    with hold_writes(slow, may_end) as is_held:
        slow.start()
        assert is_held.wait(HELD_WITHIN_S)
        yield
        may_end.set()
        slow.join()


def _read(family: str, subject: Subject) -> object:
    found = READS[family](subject)
    if isinstance(found, HotAuthors):  # the validator is random
        return sorted(found.ids)
    return found
