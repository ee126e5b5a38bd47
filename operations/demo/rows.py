"""Writes whole accounts to their shards: profile, edges both ways, counts, in one transaction.

It writes no change rows, because caches can hold only one fact about these accounts: that they do
not exist. operations/demo/load.py refreshes that entry after the commit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db import connections, transaction

from accounts.actions.create_rows import create_account_rows
from accounts.changes import UserCreated
from counters.kinds import CounterKind
from counters.sql import COLUMNS as COUNTER_COLUMNS
from counters.types import ACCOUNT
from infra.changes.failpoints import failpoint
from operations.demo.graphs import STARTED_AT, since_ms
from operations.demo.types import Community
from relations.sql import BACKWARD_COLUMNS, FORWARD_COLUMNS
from relations.types import Attribute

Ids = Mapping[int, int]  # account id by node
Row = tuple[int, ...]

FIRST_REVISION = 1


def write_accounts(alias: str, community: Community, ids: Ids, nodes: Sequence[int]) -> None:
    """Writes those nodes that the shard lacks. All nodes belong to this shard.

    Safety: idempotent, because an account's row is committed together with all its other rows.
    Cost: four statements.
    """
    with transaction.atomic(using=alias):
        created = _insert_accounts(alias, community, ids, nodes)
        failpoint("demo.account_rows_written")
        new = [node for node in nodes if ids[node] in created]
        _copy(alias, FORWARD_COLUMNS, _forward_rows(community, ids, new))
        _copy(alias, BACKWARD_COLUMNS, _backward_rows(community, ids, new))
        _copy(alias, COUNTER_COLUMNS, _counter_rows(community, ids, new))


def _insert_accounts(alias: str, community: Community, ids: Ids, nodes: Sequence[int]) -> set[int]:
    persons = {ids[node]: community.naming.person(node) for node in nodes}
    return create_account_rows(
        alias,
        {
            i: UserCreated(person.username, person.display_name, STARTED_AT, person.note)
            for i, person in persons.items()
        },
    )


def _copy(alias: str, target: str, rows: Iterable[Row]) -> None:
    """COPYs rows in the order of their key, which is the cheapest order for the index."""
    connection = connections[alias]
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(f"COPY {target} FROM STDIN") as copy,
    ):
        for row in sorted(rows):
            copy.write_row(row)


def _forward_rows(community: Community, ids: Ids, nodes: Iterable[int]) -> Iterator[Row]:
    for node in nodes:
        for position, followee in enumerate(community.graph.following.get(node, ())):
            yield (ids[node], ids[followee], *_edge(since_ms(node, position)))


def _backward_rows(community: Community, ids: Ids, nodes: Iterable[int]) -> Iterator[Row]:
    for node in nodes:
        for follower in community.graph.iter_followers(node):
            yield (ids[node], ids[follower.node], *_edge(follower.since_ms))


def _edge(since: int) -> Row:
    return (Attribute.FOLLOW.value, FIRST_REVISION, since)


def _counter_rows(community: Community, ids: Ids, nodes: Iterable[int]) -> Iterator[Row]:
    """Counts as if each follow had been counted alone: the version is the number of steps."""
    for node in nodes:
        counts = {
            CounterKind.FOLLOWERS: community.graph.follower_count(node),
            CounterKind.FOLLOWING: len(community.graph.following.get(node, ())),
        }
        for kind, count in counts.items():
            if count:
                yield (ids[node], ACCOUNT, kind.value, count, count)
