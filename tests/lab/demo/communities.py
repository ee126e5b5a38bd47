"""Graphs for tests, commands run on them, and the databases' content in words that compare."""

import random
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from infra.changes.failpoints import arm, disarm
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

Pairs = list[tuple[int, int]]


def random_pairs(accounts: int, follows: int) -> Pairs:
    """Each node follows the next one, so all are in; other follows are random."""
    chance = random.Random(f"{accounts} {follows}")
    ring = [(node, (node + 1) % accounts) for node in range(accounts)]
    return ring + [(chance.randrange(accounts), chance.randrange(accounts)) for _ in range(follows)]


def write_edges(path: Path, pairs: Pairs) -> Path:
    path.write_text("".join(f"{follower} {followee}\n" for follower, followee in pairs))
    return path


def load(path: Path, **options: object) -> None:
    # A conftest, which loads this module, is imported before Django is ready.
    call_command(import_module("lab.graph.command").LoadGraph(), str(path), **options)


def ids_by_username() -> dict[str, int]:
    return dict(fetch_all(GLOBAL_ALIAS, "SELECT username, id FROM accounts_user"))


def id_by_node(graph: str) -> dict[int, int]:
    """Usernames are letters, the node, _ and the graph's name."""
    ids = {}
    for username, account_id in ids_by_username().items():
        person, _, name = username.partition("_")
        if name == graph:
            ids[int(person.lstrip("abcdefghijklmnopqrstuvwxyz"))] = account_id
    return ids


def everything() -> dict[str, list[tuple]]:
    """All rows a load makes, by username instead of id, post times left out; in order."""
    names = {account_id: username for username, account_id in ids_by_username().items()}
    rows: dict[str, list[tuple]] = {"users": sorted((name,) for name in names.values())}
    for alias in settings.SHARD_ALIASES:
        for what, sql, ids in QUERIES:
            for row in fetch_all(alias, sql):
                named = (*(names[id_] for id_ in row[:ids]), *row[ids:])
                rows.setdefault(what, []).append(named)
    return {what: sorted(found) for what, found in rows.items()}


QUERIES = [
    ("accounts", "SELECT id, username, display_name, note, created_at FROM accounts_account", 1),
    ("forward", "SELECT follower_id, followee_id, attribute, revision, since_ms"
     " FROM relations_forwardedge", 2),
    ("backward", "SELECT follower_id, followee_id, attribute, revision, since_ms"
     " FROM relations_backwardedge", 2),
    ("counters", "SELECT owner_id, subject, kind, value, version FROM counters_counter", 1),
    ("posts", "SELECT author_id, text, language FROM posts_post", 1),
]  # fmt: skip


class Died(BaseException):
    """As a kill does: nothing in the code under test catches it."""


@contextmanager
def dying_at(failpoint: str, time: int):
    """The `time`-th arrival at the failpoint is the last thing that happens."""
    arrivals = iter(range(1, 1_000_000))

    def die() -> None:
        if next(arrivals) == time:
            raise Died

    arm(failpoint, die)
    try:
        yield
    finally:
        disarm(failpoint)
