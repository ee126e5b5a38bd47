"""Writes responses and their counts to the shard of the posts."""

from collections.abc import Collection, Iterable, Mapping

from django.db import transaction

from accounts.actions.lock_account import lock_accounts
from counters.actions.move import move
from counters.kinds import CounterKind
from counters.types import CountMove
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.types import Kind, ResponseRow

COUNTED = {
    Kind.REPLY: CounterKind.REPLIES,
    Kind.REPOST: CounterKind.REPOSTS,
    Kind.FAVOURITE: CounterKind.FAVOURITES,
}
IDENTITY = "author_id, moment, kind, responder_id, reply_moment"
READ = f"""
SELECT {IDENTITY}, at, revision, is_on
FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[])
    AS wanted ({IDENTITY})
JOIN posts_response USING ({IDENTITY})
"""  # noqa: S608
WRITE = f"""
INSERT INTO posts_response AS old ({IDENTITY}, at, revision, is_on)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[],
    %s::bigint[], %s::bigint[], %s::boolean[])
ON CONFLICT ({IDENTITY}) DO UPDATE SET
    at = excluded.at, revision = excluded.revision, is_on = excluded.is_on
WHERE old.revision < excluded.revision
"""  # noqa: S608
Identity = tuple[int, int, int, int, int]


def by_shard(responses: Iterable[ResponseRow]) -> dict[str, dict[Identity, ResponseRow]]:
    """The newest response of each identity, by the shard of the post's author."""
    groups: dict[str, dict[Identity, ResponseRow]] = {}
    for response in responses:
        group = groups.setdefault(shard_of(response.author_id), {})
        other = group.get(response.identity)
        if other is None or other.revision < response.revision:
            group[response.identity] = response
    return groups


def record_on_shard(alias: str, responses: Mapping[Identity, ResponseRow]) -> None:
    """Writes the responses that are newer than their rows on the authors' shard.

    Safety: idempotent, and the order of deliveries does not matter. One transaction locks the
    authors in order of their ids. So the old row is known, and each response is counted once. Cost:
    four statements for any number of responses.
    """
    with transaction.atomic(using=alias):
        lock_accounts(alias, sorted({response.author_id for response in responses.values()}))
        old = _read(alias, responses)
        newer = [r for i, r in responses.items() if i not in old or old[i].revision < r.revision]
        if newer:
            columns = [list(column) for column in zip(*sorted(newer), strict=True)]
            execute(alias, WRITE, columns)
            move(alias, _moves(old, newer))


def _read(alias: str, identities: Collection[Identity]) -> dict[Identity, ResponseRow]:
    columns = [list(column) for column in zip(*identities, strict=True)]
    rows = [ResponseRow(*row) for row in fetch_all(alias, READ, columns)]
    return {response.identity: response for response in rows}


def _moves(
    old: Mapping[Identity, ResponseRow], newer: Iterable[ResponseRow]
) -> Iterable[CountMove]:
    for response in newer:
        before = old.get(response.identity)
        delta = response.is_on - (before is not None and before.is_on)
        if delta:
            yield CountMove(
                response.author_id, COUNTED[Kind(response.kind)], delta, response.moment
            )
