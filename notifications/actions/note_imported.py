"""Notes up to when imports brought the history of an account: no job adds notifications of it."""

from collections.abc import Iterable
from functools import partial

from infra.sharding.scatter import scatter
from infra.sharding.sql import execute
from notifications.actions.write_notifications import by_recipient_shard
from notifications.types import Occurrence

# In the order of owners, as all writes lock inboxes.
NOTE = """
INSERT INTO notifications_inbox (owner_id, imported_ms)
SELECT owner_id, newest_ms
FROM unnest(%s::bigint[], %s::bigint[]) AS given (owner_id, newest_ms) ORDER BY owner_id
ON CONFLICT (owner_id) DO UPDATE SET imported_ms = excluded.imported_ms
WHERE notifications_inbox.imported_ms < excluded.imported_ms
"""


def note_imported(occurrences: Iterable[Occurrence]) -> None:
    """Safety: idempotent, in any order. Cost: one statement on each recipient's shard."""
    groups = by_recipient_shard(each for each in occurrences if each.is_on)
    scatter({alias: partial(_note_on, alias, group) for alias, group in groups.items()})


def _note_on(alias: str, occurrences: Iterable[Occurrence]) -> None:
    newest: dict[int, int] = {}
    for occurrence in occurrences:
        owner_id = occurrence.owner_id
        newest[owner_id] = max(occurrence.at_ms, newest.get(owner_id, 0))
    execute(alias, NOTE, (list(newest), list(newest.values())))
