"""Many readers who miss the same entry at the same moment, in this process and in another one.

`python -m tests.herd` is the other process: a line of JSON asks for a herd, a line answers.
"""

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import django
import orjson

from infra.caching.questions import answer

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()

from django.conf import settings
from django.core.cache import cache as django_cache
from django.db.backends.utils import CursorWrapper
from redis import Redis

from accounts.cache import find_actor, profiles
from accounts.queries import site_counts, viewers
from counters.cache import account_counts
from infra.api.pages import Window
from infra.caching import loading
from infra.caching.single import SingleClient
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from posts.cache.viewer_state import viewer_states
from posts.ids import PostId
from posts.reading.statuses import load_status_json
from relations.actions.follow import follow
from relations.cache import RELATIONSHIPS
from relations.queries import edge_lists, following
from relations.queries.relationships import load_relationships
from tests.callers import token_of
from tests.races import failures, run_together
from tests.waiting import PATIENCE_S, until
from tests.world import drain_all, forget_memory, make_account, publish
from timelines.cache import ask_public_list
from timelines.home.page import home_page
from timelines.hot.directory import load_hot_authors
from timelines.hot.entries import load_hot_entries
from timelines.stores.factory import timeline_store
from timelines.tags.cache import ask_home_tags
from timelines.tags.entries import load_tag_entries
from timelines.tags.types import tag_id_of

MISSED = "tests.herd:missed"
PAGE = Window(limit=20)


class Subject(NamedTuple):
    """What a herd reads about. `post`: packed, in hexadecimal digits, and by the author."""

    viewer: int
    author: int
    post: str
    token: str

    @property
    def post_id(self) -> PostId:
        return PostId.from_packed(bytes.fromhex(self.post))


def make_subject() -> Subject:
    """An account that follows an author with one post."""
    viewer, author = make_account(), make_account()
    follow(viewer, author)
    post = publish(author)
    drain_all()
    return Subject(viewer, author, post.packed.hex(), token_of(viewer))


READS: Mapping[str, Callable[[Subject], object]] = {
    "accounts.profile": lambda s: profiles.load_many([s.author]),
    "accounts.actor": lambda s: find_actor(s.author),
    "accounts.token": lambda s: viewers.find_viewer(s.token),
    "counters.account": lambda s: account_counts.load_many([s.author]),
    "posts.counts": lambda s: post_counts.load_many([number_of(s.post_id)]),
    "posts.viewer_state": lambda s: viewer_states.load_many([s.viewer]),
    "posts.week": lambda s: load_status_json([s.post_id]),
    "relations.following": lambda s: following.load_following(s.viewer),
    "relations.followers": lambda s: edge_lists.list_page(
        edge_lists.FOLLOWERS_LIST, s.author, PAGE
    ),
    "relations.quiet": lambda s: edge_lists.list_page(edge_lists.FOLLOWING_LIST, s.viewer, PAGE),
    RELATIONSHIPS.family.partition(":")[0]: lambda s: load_relationships(s.viewer, [s.author]),
    "timelines.home": lambda s: home_page(s.viewer, PAGE),
    "timelines.hot": lambda _: load_hot_authors(),
    "timelines.hot_entries": lambda s: load_hot_entries([s.author]),
    "timelines.home_tags": lambda s: answer(ask_home_tags(s.viewer)),
    "timelines.tag_entries": lambda _: load_tag_entries([tag_id_of("tea")]),
    "timelines.public": lambda _: answer(ask_public_list()),
}


class Herd(NamedTuple):
    """`readers`: of this process. `everyone`: of all processes together."""

    family: str
    subject: Subject
    readers: int
    everyone: int


def lose(family: str, subject: Subject) -> None:
    """Reads the family once, so that everything else is cached, and deletes its entries."""
    READS[family](subject)
    server = Redis.from_url(settings.REDIS_URL)
    lost = [*server.scan_iter(f"{family}:*")]
    assert lost, family
    server.delete(MISSED, *lost)


def read_together(herd: Herd) -> Counter[str]:
    """How often each statement ran. No statement ends before all readers have missed the entry."""
    forget_copies()
    read = READS[herd.family]
    with _watched(herd.everyone) as statements:
        answers = run_together([lambda: read(herd.subject)] * herd.readers)
    assert not failures(answers), failures(answers)[0]
    return Counter(statements)


def forget_copies() -> None:
    """Clears the memory of this process."""
    forget_memory()
    viewers._viewers.clear()
    site_counts._Memory.fresh_until = 0
    django_cache.delete(site_counts.CACHE_NAME)


@contextmanager
def _watched(everyone: int) -> Iterator[Sequence[str]]:
    """The statements of all threads, each with its database."""
    server = Redis.from_url(settings.REDIS_URL)
    execute, run = CursorWrapper.execute, SingleClient.run
    statements: list[str] = []
    missed = threading.local()

    def missing_run(self: SingleClient, commands: Sequence[Any]) -> Any:
        try:
            return run(self, commands)
        finally:
            if not hasattr(missed, "is_counted"):
                missed.is_counted = server.incr(MISSED)

    def waiting_execute(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        if "FROM" not in str(sql):
            return execute(self, sql, params)
        statements.append(f"{self.db.alias}: {sql}")
        until(lambda: int(server.get(MISSED) or 0) >= everyone)
        return execute(self, sql, params)

    with (
        patch.object(loading, "PATIENCE_S", PATIENCE_S),
        patch.object(SingleClient, "run", missing_run),
        patch.object(CursorWrapper, "execute", waiting_execute),
    ):
        yield statements


@contextmanager
def hold_writes(slow: threading.Thread, may_end: threading.Event) -> Iterator[threading.Event]:
    """Holds this thread before its first call of Redis after a statement. The event: it is held."""
    execute, run = CursorWrapper.execute, SingleClient.run
    has_read, is_held = threading.Event(), threading.Event()

    def noted_execute(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        found = execute(self, sql, params)
        if "FROM" in str(sql):
            has_read.set()
        return found

    def held_run(self: SingleClient, commands: Sequence[Any]) -> Any:
        if threading.current_thread() is slow and has_read.is_set():
            is_held.set()
            may_end.wait(PATIENCE_S)
        return run(self, commands)

    with (
        patch.object(SingleClient, "run", held_run),
        patch.object(CursorWrapper, "execute", noted_execute),
    ):
        yield is_held


def main() -> None:
    timeline_store()  # its first call in a process asks the default database
    for line in sys.stdin:
        family, subject, *counts = orjson.loads(line)
        found = read_together(Herd(family, Subject(*subject), *counts))
        print(orjson.dumps(found).decode(), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
