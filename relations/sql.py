"""SQL on the tables of relations. No other app names these tables.

Every primary key and every index of a list begins with the owner's column and the kind. So each
condition gives both, the kind as KIND.
"""

from infra.jobs.walk import Table
from relations.types import NOTIFYING_FLAGS, Attribute, RelationKind

KIND = f"{RelationKind.ACCOUNT:d}"
FORWARD_TABLE = "relations_forwardedge"
BACKWARD_TABLE = "relations_backwardedge"
MUTES_TABLE = "relations_muted"
NOTES_TABLE = "relations_accountnote"
IS_FOLLOW = f"attribute IN ({Attribute.FOLLOW:d}, {Attribute.WHISPER:d})"
IS_REQUEST = f"attribute IN ({Attribute.REQUESTED:d}, {Attribute.REQUESTED_QUIETLY:d})"
IS_NOTIFIED = f"{IS_FOLLOW} AND flags IN ({', '.join(map(str, NOTIFYING_FLAGS))})"
IS_FOLLOW_OR_REQUEST = f"attribute NOT IN ({Attribute.NONE:d}, {Attribute.BLACK:d})"

# For COPY, by accounts that are written together with all their rows. The kind has a default.
FORWARD_COLUMNS = f"{FORWARD_TABLE} (follower_id, followee_id, attribute, revision, since_ms)"
BACKWARD_COLUMNS = f"{BACKWARD_TABLE} (followee_id, follower_id, attribute, revision, since_ms)"
# Open followers of an account without forward edges, for benchmarks. Parameters: the followee, ids
# of followers. The id of a follower is the time of the follow too.
INSERT_FOLLOWERS = f"""
INSERT INTO {BACKWARD_TABLE} (followee_id, follower_id, kind, attribute, revision, since_ms)
SELECT %s, id, {KIND}, {Attribute.FOLLOW:d}, 1, id FROM unnest(%s::bigint[]) AS id
"""  # noqa: S608
# Parameters: %(owners)s, %(most)s. The newest followers and requests of each account of the shard:
# follower, followee, attribute, revision, since_ms, flags. Two index scans for each account.
NEWEST_BACKWARD = f"""
SELECT e.* FROM unnest(%(owners)s::bigint[]) AS wanted (id)
CROSS JOIN LATERAL (
    (
        SELECT follower_id, followee_id, attribute, revision, since_ms, flags FROM {BACKWARD_TABLE}
        WHERE followee_id = wanted.id AND kind = {KIND} AND {IS_FOLLOW}
        ORDER BY since_ms DESC, follower_id DESC LIMIT %(most)s
    ) UNION ALL (
        SELECT follower_id, followee_id, attribute, revision, since_ms, flags FROM {BACKWARD_TABLE}
        WHERE followee_id = wanted.id AND kind = {KIND} AND {IS_REQUEST}
        ORDER BY since_ms DESC, follower_id DESC LIMIT %(most)s
    )
) AS e
"""  # noqa: S608
# The followees of an account, as author_id, by an index-only scan. A condition on follower_id
# follows with AND.
FOLLOWEES = f"""
SELECT followee_id AS author_id FROM {FORWARD_TABLE} WHERE kind = {KIND} AND {IS_FOLLOW}
"""  # noqa: S608
# All rows of %(owner)s about %(other)s: 'forward', 'backward' or 'mute', state, flags, revision,
# since_ms, until_ms. The state of a mute is whether it is on, its flag whether it hides
# notifications.
SELECT_PAIR = f"""
SELECT 'forward', attribute, flags, revision, since_ms, 0 FROM {FORWARD_TABLE}
WHERE follower_id = %(owner)s AND kind = {KIND} AND followee_id = %(other)s
UNION ALL
SELECT 'backward', attribute, flags, revision, since_ms, 0 FROM {BACKWARD_TABLE}
WHERE followee_id = %(owner)s AND kind = {KIND} AND follower_id = %(other)s
UNION ALL
SELECT 'mute', is_on::int, hides_notifications::int, revision, since_ms, until_ms
FROM {MUTES_TABLE} WHERE owner_id = %(owner)s AND kind = {KIND} AND target_id = %(other)s
"""  # noqa: S608
# Mutes that are on, for jobs that walk them: owner_id, kind, target_id.
ACTIVE_MUTES = Table(
    MUTES_TABLE, ("owner_id", "kind", "target_id"), where=f"kind = {KIND} AND is_on"
)
# For jobs that walk all private notes.
NOTES = Table(NOTES_TABLE, ("owner_id", "target_id"))


def edge_table(name: str, columns: tuple[str, ...], where: str = "true") -> Table:
    """Edges to walk by key: the owner, the kind, the other account, then the columns."""
    owner, other = "follower_id", "followee_id"
    if name == BACKWARD_TABLE:
        owner, other = other, owner
    return Table(name, (owner, "kind", other), columns, f"kind = {KIND} AND {where}")
