"""Mutants of a single mechanism: no experiment meets them often, and a test shows each at once."""

from lab.faults.mutants.mutant import Edit, Mutant

FENCES = "tests/integration/moves/test_fences.py"
RECORDS = "tests/integration/timelines/test_poll_records.py"

OF_SINGLE_MECHANISMS = (
    Mutant(
        "owed late post counts as served",
        "A late post that a later page at the same cursor owes is forgotten.",
        (),
        (
            Edit(
                "timelines/polling/lua/enter_cursor.lua",
                "    served = filter(old_served, set_of(owed), false)\n",
                "    served = old_served\n",
            ),
        ),
        (f"{RECORDS}::test_a_record_of_two_pages",),
    ),
    Mutant(
        "debts of a later page forgotten",
        "What a later page at the same cursor owes is not owed.",
        (),
        (
            Edit(
                "timelines/polling/lua/enter_cursor.lua",
                "  owed = old_owed .. filter(owed, set_of(old_owed), false)\n",
                "  owed = old_owed\n",
            ),
        ),
        (f"{RECORDS}::test_a_record_of_two_pages",),
    ),
    Mutant(
        "unknown follow leaves streams open",
        "A stream goes on without the posts of a new followee when the follow cannot be read.",
        (),
        (
            Edit(
                "web/streaming/router.py",
                "self._end({s for pair in pairs for s in self._connections_of(pair[0])})",
                "pass",
            ),
        ),
        ("tests/integration/streaming/test_leaving.py"
         "::test_who_follows_while_the_store_is_away_comes_back",),
    ),
    Mutant(
        "fence kept closed after its time",
        "A switch that is slower than its fence flips the map although somebody has written.",
        (),
        (
            Edit(
                "operations/moves/guard.py",
                "KEEP_CLOSED = SET.format(until=\"'infinity'\") + "
                '" AND closed_until > clock_timestamp()"',
                "KEEP_CLOSED = SET.format(until=\"'infinity'\") + "
                '" AND true"',
            ),
        ),
        (f"{FENCES}::test_a_switch_slower_than_its_fence_flips_nothing",),
    ),
    Mutant(
        "late changes stay behind",
        "Changes that a late drain left on the source of a move are not delivered.",
        (),
        (
            Edit(
                "operations/moves/switch.py",
                "late = hand_over_changes(ref.source, ref.target, ref.buckets.condition(OWNER))",
                "late = 0",
            ),
        ),
        (f"{FENCES}::test_changes_that_a_late_drain_left_are_handed_over",),
    ),
    Mutant(
        "older mover takes the guard",
        "A process that was replaced opens and closes the guard of its successor.",
        (),
        (
            Edit(
                "operations/moves/guard.py",
                "WHERE move = %s AND token <= %s\"",
                "WHERE move = %s AND token <> -%s\"",
            ),
        ),
        (f"{FENCES}::test_an_older_process_takes_no_guard",),
    ),
    Mutant(
        "news of the same day",
        "Who undoes and does the same again on one day is news twice.",
        (),
        (
            Edit(
                "notifications/functions.sql",
                "ELSE NOT old.is_on AND old.id < day_ago END",
                "ELSE NOT old.is_on END",
            ),
        ),
        ("tests/integration/notifications/test_who_is_notified.py"
         "::test_when_a_row_gets_a_new_place",),
    ),
)  # fmt: skip
