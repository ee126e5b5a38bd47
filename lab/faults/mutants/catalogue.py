"""All mutants. A test holds that each edit applies exactly once."""

from lab.faults.mutants.mutant import Edit, Mutant
from lab.faults.mutants.of_redis import OF_REDIS
from lab.faults.mutants.of_single_mechanisms import OF_SINGLE_MECHANISMS

MUTANTS = (
    Mutant(
        "no row lock",
        "A write does not lock the row of its account.",
        ("F18",),
        (
            Edit(
                "accounts/functions.sql",
                "WHERE id = account FOR NO KEY UPDATE;",
                "WHERE id = account;",
            ),
        ),
    ),
    Mutant(
        "no version check in rows",
        "An older state of an edge is mirrored over a newer one.",
        ("F18c",),
        (
            Edit(
                "relations/functions.sql",
                "        IF new_revision <= coalesce(old[2], 0) THEN\n",
                "        IF new_revision = 0 THEN\n",
            ),
        ),
    ),
    Mutant(
        "no version check in Redis",
        "An older value replaces a newer one in the cache.",
        ("F18c",),
        (
            Edit(
                "infra/caching/lua/newer_value.lua",
                "return stored and stored > tonumber(version)",
                "return false",
            ),
        ),
    ),
    Mutant(
        "watermark instead of pending",
        "A drain takes only rows above the last id that it has seen.",
        ("F10", "F4"),
        (
            Edit(
                "infra/changes/batches.py",
                "    return [ChangeRow(*row) for row in fetch_all(",
                "    rows = [ChangeRow(*row) for row in fetch_all(",
            ),
            Edit(
                "infra/changes/batches.py",
                "\n\n\ndef drain_batch(",
                "\n"
                "    new = [row for row in rows if row.id > _seen.get((alias, row.lane), 0)]\n"
                "    _seen.update({(alias, row.lane): row.id for row in new})\n"
                "    return new\n\n\ndef drain_batch(",
            ),
            Edit(
                "infra/changes/batches.py",
                "log = structlog.get_logger()\n",
                "log = structlog.get_logger()\n_seen: dict[tuple[str, int], int] = {}\n",
            ),
        ),
    ),
    Mutant(
        "forgotten backward edge",
        "The followee's side of an edge is never written.",
        ("F19a",),
        (
            Edit(
                "relations/functions.sql",
                "        IF edge IS NOT DISTINCT FROM old THEN\n",
                "        IF true THEN\n",
            ),
        ),
    ),
    Mutant(
        "answer before the commit",
        "PostgreSQL acknowledges a commit before it is written.",
        ("F10",),
        (
            Edit(
                "lab/services/postgres.py",
                '_NOT_DURABLE = {"fsync": "off", ',
                '_NOT_DURABLE = {"synchronous_commit": "off", "wal_writer_delay": "10s",'
                ' "fsync": "off", ',
            ),
        ),
    ),
    Mutant(
        "filed before it is delivered",
        "A drain files changes, and only then calls their consumers.",
        ("F1a", "F1b"),
        (
            Edit(
                "infra/changes/batches.py",
                "        outcome = deliver(alias, rows)\n",
                "        _file(alias, tokens, rows, Outcome([], []))\n"
                "        outcome = deliver(alias, rows)\n",
            ),
        ),
    ),
    Mutant(
        "unconfirmed page",
        "A process uses a remembered page without the replies that confirm it.",
        ("F19a",),
        (
            Edit(
                "infra/caching/remembered.py",
                "_digest(replies) == known.digest\n",
                "True\n",
            ),
        ),
    ),
    Mutant(
        "cut one too early",
        "A page begins one entry too low.",
        ("F19a",),
        (
            Edit(
                "timelines/home/feed.py",
                "bisect_right(packed, time_range.below.packed)]",
                "bisect_right(packed, time_range.below.packed) - 1]",
            ),
        ),
    ),
    Mutant(
        "block ends nothing",
        "The follow of the blocked account goes on.",
        ("F18", "F19a"),
        (
            Edit(
                "relations/states.py",
                "    if not is_live or last_block_turn(new) <= last_block_turn(old):\n",
                "    if is_live == is_live:\n",
            ),
        ),
    ),
    Mutant(
        "mute without effect",
        "The rules of a page ignore mutes.",
        ("F19a",),
        (
            Edit(
                "relations/visibility.py",
                "    if hiding & _MUTES and not relationship.is_muted_at(now_ms):\n",
                "    if hiding & _MUTES:\n",
            ),
        ),
    ),
    Mutant(
        "late posts left out",
        "A poll returns only what is above its cursor.",
        ("F37b",),
        (
            Edit(
                "timelines/recent/queries/late_rows.py",
                "    posts = [LatePost(_entry(row), row[7]) for row in rows if row[3] is not None]",
                "    posts = [LatePost(_entry(row), row[7]) for row in rows if row[3] == -1]",
            ),
        ),
    ),
    Mutant(
        "late posts of a full page forgotten",
        "A full page by since_id owes no late posts to the next poll.",
        ("F37b",),
        (
            Edit(
                "timelines/feeds/polled.py",
                "return PolledPage(newer[:limit], *late, has_older=True, is_cut=True)",
                "return PolledPage(newer[:limit], has_older=True, is_cut=True)",
            ),
        ),
    ),
    Mutant(
        "records of one way only",
        "A page by since_id does not count as a page at which a client with the token ended.",
        ("F37b",),
        (
            Edit(
                "timelines/polling/records.py",
                'f"{self.timeline}:{self.client}")',
                'f"{self.timeline}:{self.client}:{self.way.decode()}")',
            ),
        ),
    ),
    Mutant(
        "new followee without posts",
        "A follow does not bring the followee's posts.",
        ("F19a",),
        (
            Edit(
                "timelines/actions/change_following.py",
                "    return store.change_following(reader_id, change(added, complete_from))\n",
                "    return store.change_following(reader_id, change([], complete_from))\n",
            ),
        ),
    ),
    Mutant(
        "stale relationships",
        "A follow or a block does not drop the cached relationship.",
        ("F19a",),
        (
            Edit(
                "relations/consumers.py",
                "    run_together(relationship_changes(pairs))\n",
                "    run_together([])\n",
            ),
        ),
    ),
    Mutant(
        "repost counted once too often",
        "An undone repost stays in the count of the post.",
        ("F19a",),
        (
            Edit(
                "posts/functions.sql",
                "        array_agg(is_on_now::int - coalesce(old.is_on, false)::int)\n",
                "        array_agg(is_on_now::int)\n",
            ),
        ),
    ),
    *OF_REDIS,
    *OF_SINGLE_MECHANISMS,
    Mutant(
        "deleted posts stay indexed",
        "The row of a deleted post stays in the recent-posts index.",
        ("F22",),
        (
            Edit(
                "timelines/recent/consumers.py",
                "recent_index().remove(deleted)",
                "recent_index().remove(())",
            ),
        ),
    ),
)
