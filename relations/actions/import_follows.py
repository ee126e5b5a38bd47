"""Writes the imported follows of accounts of one shard: hundreds in one statement."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.conf import settings

from infra.changes.append import change_columns
from infra.changes.failpoints import failpoint
from infra.changes.wake_up import wake
from infra.sharding.sql import fetch_all, fetch_one, named_call
from relations.changes import FollowsImported
from relations.counter_rows import FORWARD_KINDS
from relations.types import Attribute, EdgeFlag

# The functions and their results: relations/functions.sql
JUDGED = ("followers", "followees", "sinces_ms", "are_dated")
PARAMETERS = (
    *JUDGED,
    *("attributes", "all_flags", "all_languages", "most_follows", "states", "kinds"),
    *("lane", "change", "payload"),
)
WRITE = f"SELECT * FROM {named_call('relations_import_follows', PARAMETERS)}"  # noqa: S608
JUDGE = f"SELECT n, outcome FROM {named_call('relations_judge_follows', (*JUDGED, 'most_follows'))}"  # noqa: S608
COUNTED = [[int(state), int(kind)] for state, kinds in FORWARD_KINDS.items() for kind in kinds]
STATES, KINDS = ([*column] for column in zip(*COUNTED, strict=True))
# Each account of a statement is locked until its end, and the locks share a table of the server.
MOST_TOGETHER = 1_000
WRITTEN = "write"


class ImportedFollow(NamedTuple):
    """A follow to write. `is_dated`: the time is that of the other system."""

    follower_id: int
    followee_id: int
    since_ms: int
    is_dated: bool
    attribute: Attribute
    flags: EdgeFlag
    languages: Sequence[str] = ()


def import_follows(alias: str, follows: Sequence[ImportedFollow]) -> list[str]:
    """Writes at most MOST_TOGETHER follows, and returns the outcome of each: `write`, or why not.

    All followers have accounts on this shard; a pair comes once. Caches of the followers, and what
    other shards have, follow by the drain. Safety: idempotent; one transaction with its change.
    Cost: one statement, which locks the accounts of the followers.
    """
    change = change_columns(follows[0].follower_id, FollowsImported())
    *judged, attributes, flags, languages = zip(*follows, strict=True)
    spoken = [",".join(codes) for codes in languages]
    values = (*_judged(judged), [*map(int, attributes)], [*map(int, flags)], spoken)
    row = fetch_one(alias, WRITE, (*values, settings.FOLLOW_CAP, STATES, KINDS, *change))
    failpoint("relations.follows_imported")
    numbers, outcomes, change_id = row  # type: ignore[misc]  # a function has one row
    if change_id is not None:
        wake(alias, change.lane)
    return _by_place(len(follows), zip(numbers or (), outcomes or (), strict=True))


def judge_follows(alias: str, follows: Sequence[ImportedFollow]) -> list[str]:
    """What `import follows` would return. One query; it writes and locks nothing."""
    columns = _judged([*zip(*follows, strict=True)][: len(JUDGED)])
    rows = fetch_all(alias, JUDGE, (*columns, settings.FOLLOW_CAP))
    return _by_place(len(follows), rows)


def _judged(columns: Sequence[Sequence[Any]]) -> Sequence[Sequence[int | bool]]:
    """The columns of JUDGED as parameters."""
    *numbers, are_dated = columns
    return (*([*map(int, column)] for column in numbers), [*map(bool, are_dated)])


def _by_place(count: int, outcomes: object) -> list[str]:
    written = [WRITTEN] * count
    for number, outcome in outcomes:  # type: ignore[attr-defined]
        written[number - 1] = outcome
    return written
