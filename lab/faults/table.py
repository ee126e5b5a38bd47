"""The faults: each with its promise, and what shows that it holds."""

from typing import NamedTuple


class TableRow(NamedTuple):
    """`shown_by`: a test "path::name" that shows it without the harness.

    `why_not`: why there is neither an experiment nor such a test.
    """

    number: str
    fault: str
    promise: str
    shown_by: str = ""
    why_not: str = ""


_FAULTS = "tests/faults/"
_WHOLE = "tests/integration/"
_NOT_YET = "no experiment yet"

ROWS = [
    TableRow("F1", "kill -9 of a drainer at every failpoint", "no change lost, none applied twice"),
    TableRow(
        "F2", "kill -9 of a web after the commit", "the same Idempotency-Key gives the same answer"
    ),
    TableRow(
        "F3", "FLUSHALL under load", "no 5xx, every read right, transactions peak at most 3 x"
    ),
    TableRow("F4", "Redis killed", "99.9 % of reads right; writes acknowledged or a clean 503"),
    TableRow("F5", "Redis hangs", "no request over 1 s, p99 at most 400 ms"),
    TableRow("F6", "Redis comes back with an old dump", "stale keys are never served as fresh"),
    TableRow("F7", "Redis out of memory, evicting or refusing", "missing is never empty"),
    TableRow("F8", "one shard down", "other accounts go on; relations finish within 30 s after"),
    TableRow("F9", "one shard hangs", "p99 of other shards at most 2 x idle"),
    TableRow("F10", "kill -9 of a postmaster during commits", "no acknowledged write lost"),
    TableRow(
        "F11",
        "a shard restored to the past",
        "what others know comes back, and what was lost is named",
        "tests/faults/test_shard_restored.py::test_drill",
    ),
    TableRow(
        "F12",
        "every change delivered twice",
        "the same final state",
        "tests/scenarios/test_counter_storm.py::test_counts_hold_through_a_storm",
    ),
    TableRow(
        "F13",
        "delivery out of order within a key",
        "the newest version wins",
        f"{_WHOLE}relations/test_mirroring.py"
        "::test_changes_in_any_order_each_when_it_comes_end_the_same",
    ),
    TableRow(
        "F14",
        "a lower sequence id commits late",
        "it is not skipped",
        f"{_WHOLE}changes/test_drain.py::test_rows_becoming_visible_out_of_order_are_not_skipped",
    ),
    TableRow("F15", "a transaction stays open", "lag is visible, other keys flow"),
    TableRow("F16", "clock of one web 5 min off", "cursors never skip"),
    TableRow(
        "F17",
        "the clock jumps back in one process",
        "ids grow all the same",
        f"{_WHOLE}posts/test_publishing.py::test_ids_grow_when_the_clock_goes_back",
    ),
    TableRow(
        "F18",
        "A follows B and B follows A at once",
        "mutual on both sides, counts 1 and 1",
        f"{_WHOLE}relations/test_storms.py"
        "::test_two_who_follow_each_other_at_the_same_moment_are_mutual",
    ),
    TableRow(
        "F19",
        "many follow and unfollow at once",
        "counts equal rows, never negative",
        f"{_WHOLE}relations/test_storms.py::test_many_followers_on_one_account_at_once",
    ),
    TableRow(
        "F20",
        "block against follow against special follow",
        "the block wins",
        f"{_WHOLE}relations/test_storms.py::test_block_against_follow_against_special",
    ),
    TableRow("F21", "unfollow during a slow fan-out", "no post of the unfollowed stays"),
    TableRow(
        "F22",
        "delete during a slow fan-out",
        "invisible from the answer on, no row of it after 60 s",
    ),
    TableRow(
        "F23",
        "a crash between the batches of a big fan-out",
        "each follower gets exactly one entry",
        f"{_FAULTS}test_fan_out_killed.py::test_kill_9_anywhere_in_a_fan_out",
    ),
    TableRow(
        "F24",
        "an author becomes hot and cools",
        "no duplicate, no hole",
        "tests/scenarios/test_hot_account.py::test_everybody_follows_one_account",
    ),
    TableRow(
        "F25",
        "3,503 reposts of one post",
        "one merged entry, the right count",
        "tests/scenarios/test_real_graph.py::test_home_pages_of_a_real_graph_equal_the_oracle",
    ),
    TableRow(
        "F26",
        "a change that always fails",
        "other keys go on; it is parked with its error",
        f"{_WHOLE}changes/test_drain.py"
        "::test_failing_row_waits_longer_each_time_and_is_parked_with_its_error",
    ),
    TableRow(
        "F27",
        "a repair job killed, run twice, during traffic",
        "it never overwrites newer data",
        f"{_FAULTS}test_jobs_killed.py"
        "::test_second_run_changes_nothing_and_a_dry_run_says_so_and_writes_nothing",
    ),
    TableRow("F28", "rolling SIGTERM restart", "no request fails"),
    TableRow("F29", "disk of a shard full", "503 on its writes, reads go on"),
    TableRow("F30", "20 connections and many clients", "no 500, recovers"),
    TableRow("F31", "sessions terminated at random", "no 500, no double effect"),
    TableRow("F32", "no drainer runs for a while", "delivers 3 x as fast as changes come"),
    TableRow("F33", "soak with a random nemesis", "all holds at the end; memory and files flat"),
    TableRow("F34", "a shard or default hangs or is black-holed", "others p99 at most 2 x idle"),
    TableRow("F35", "Redis pauses for 0.3 s with its data", "what was taken out stays out"),
    TableRow(
        "F36",
        "FLUSHALL between a loader's read and its write",
        "nothing old is kept",
        f"{_WHOLE}relations/test_relationship_cache_races.py"
        "::test_a_change_while_everything_is_lost_is_not_undone",
    ),
    TableRow("F37", "clients poll while deliveries are late", "every visible post is seen"),
    TableRow("F38", "single keys evicted", "missing is never empty"),
    TableRow(
        "F39",
        "shard URLs swapped, missing or foreign",
        "refused at start, nothing written",
        f"{_FAULTS}test_wrong_databases.py::test_wrong_urls_are_refused_by_every_process",
    ),
    TableRow(
        "F40",
        "web before migrations",
        "503 not ready, no 500",
        f"{_FAULTS}test_before_migrations.py::test_every_route_is_not_ready_and_never_an_error",
    ),
    TableRow("F41", "slow bodies, half headers, idle sockets", "all others are served"),
    TableRow("F42", "10 x the capacity for 15 s", "503 with Retry-After, normal within 2 s after"),
    TableRow(
        "F43",
        "PostgreSQL with stock settings",
        "the same promises",
        why_not="all experiments run on stock settings",
    ),
    TableRow(
        "F44",
        "Redis answers reads and refuses writes",
        "what was taken out is shown by no process after the answer",
    ),
    TableRow(
        "F45",
        "the accounts of a shard move there, back and for good",
        "no call fails, nothing is lost; p99 of who moves at most 500 ms",
    ),
    TableRow(
        "F46",
        "of several workers one hangs, one dies and comes back far away",
        "each entry is there once, in homes and counts",
    ),
    TableRow(
        "F47",
        "kill -9 of the primary of a shard whose servers elect the next one",
        "only 503s, each at most 1 s; no acknowledged write lost; back within ttl + loop_wait",
    ),
    TableRow(
        "F48",
        "a Redis Cluster: a primary dies, hangs or is cut off; slots move",
        "nothing is lost, own acts are seen; 503 for 0.5 % at most, for 5 s",
    ),
    TableRow(
        "F49",
        "of three workers that share large fan-outs one hangs, one dies, one is far away",
        "no entry is lost; only chunks in a lost worker's hand are pushed twice, and shown once",
    ),
    TableRow(
        "F50",
        "a receiver of webhooks answers 200 and loses events",
        "redelivery of the span brings the event of each row",
    ),
    TableRow(
        "F51",
        "readers of the change feed come exactly at the edge of what is kept",
        "too old by its own name, or everything behind the position",
    ),
    TableRow(
        "F52",
        "streams break in the middle of an event",
        "each client gets each row; twice only what it had no position behind",
    ),
    TableRow(
        "F53",
        "tokens are revoked, also right after FLUSHALL and without Redis",
        "their streams end within 1 s, and no other",
    ),
    TableRow(
        "F54",
        "a block whose other side is late, while the author posts",
        "no stream shows a post that began after the answer",
    ),
    TableRow(
        "F55",
        "kill -9 of the streaming process and of its worker under load",
        "each client comes back and gets each row",
    ),
]

VERSIONS = [
    TableRow(
        "mixed-versions",
        "old webs with new drainers and the reverse, over the new schema",
        "no 500; pending and parked changes of either are delivered by the other",
    ),
]
