"""Which points a whole run must reach, and which of them it missed."""

from collections.abc import Collection, Mapping

_DEMO = "tests/lab/demo/test_load_graph_killed.py"
_COMMANDS = "tests/faults/test_commands_killed.py"
_DECISIONS = "tests/integration/moderation/test_decision_crashes.py"
_ANNOUNCED = "tests/integration/operations/test_announce_rows.py"
_IMPORTED_FOLLOWS = "tests/integration/importing/test_import_follows.py"
_IMPORTED_POSTS = "tests/integration/importing/test_import_posts.py"
# Points that no experiment takes, and the test that takes each of them: commands that repair what
# experiments do not break, demo data, moderators, sign-up. The test names the point, or what is
# after "::".
ELSEWHERE: Mapping[str, str] = {
    "accounts.bound": "tests/integration/importing/test_import_accounts.py",
    "accounts.before_creating": "tests/integration/accounts/test_sign_up.py",
    "accounts.before_profiles": _DECISIONS,
    "accounts.before_restricted": _DECISIONS,
    "brought_lists.line_done": "tests/integration/pages/test_bring_page.py",
    "counters.drift_found": _COMMANDS,
    "counters.repaired": _COMMANDS,
    "counters.wrong_entries_found": "tests/integration/counters/test_account_counts.py",
    "demo.account_rows_written": _DEMO,
    "demo.post_published": _DEMO,
    "demo.shard_written": _DEMO,
    "demo.users_made": _DEMO,
    "moderation.before_enforcing": _DECISIONS,
    "moderation.before_purged": "tests/integration/moderation/test_purge.py",
    "moderation.mailed": "tests/integration/moderation/test_strike_mails.py",
    "parking.batch_changed": _COMMANDS,
    "parking.batch_selected": _COMMANDS,
    "pausing.rows_resumed": _COMMANDS,
    "posts.imported": _IMPORTED_POSTS,
    "posts.rows_announced": _ANNOUNCED,
    "posts.imported_recorded": _IMPORTED_POSTS,
    "relations.backfilled": _COMMANDS,
    "relations.follows_imported": _IMPORTED_FOLLOWS,
    "relations.imported_mirrored": _IMPORTED_FOLLOWS,
    "relations.mirrored_again": _COMMANDS,
    "relations.rows_announced": _ANNOUNCED,
    "recent_posts.own_rows_added": "tests/integration/timelines/test_recent_by_author.py",
    "recent_posts.backfilled": "tests/integration/timelines/test_recent_index.py",
    "timeline.holes_filled": _COMMANDS,
    "unsent.overflowed": "tests/unit/caching/test_unsent.py::MOST_UNSENT",
}


def unreached(points: Collection[str], reached: Collection[str]) -> list[str]:
    """The names that the run should have reached and did not."""
    return sorted({*points} - {*reached} - {*ELSEWHERE})
