"""The product without one of its safeguards: each mutant, and the history that finds it.

They are data: a safeguard is a text of a script or a statement that is replaced, or a function.
"""

from collections.abc import Callable
from hashlib import sha1
from typing import Any, NamedTuple

import pytest

from infra.caching import hashes, lists, relationship_cache, values
from infra.caching.breaker import Breaker
from infra.caching.remembered import Memory, Remembered
from infra.caching.scripts import LuaScript, scripts_by_sha
from infra.caching.unsent import UnsentCalls
from infra.changes import batches
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, functions_of
from tests.interleavings import home_pages, loads, overlaps, processes, writes
from tests.interleavings.exploring import History
from timelines.hot import directory
from timelines.polling import records
from timelines.stores import packed

Break = Callable[[pytest.MonkeyPatch], None]


class Mutant(NamedTuple):
    """`name`: the safeguard that is missing."""

    name: str
    history: History
    breaks: tuple[Break, ...]

    def apply(self, patch: pytest.MonkeyPatch) -> None:
        for one in self.breaks:
            one(patch)


def in_script(module: Any, name: str, text: str, instead: str) -> Break:
    """The script of this name has another text."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        body = _replace(getattr(module, name).body, text, instead)
        sha = sha1(body.encode(), usedforsecurity=False).hexdigest()
        patch.setitem(scripts_by_sha, sha, LuaScript(body, sha))
        patch.setattr(module, name, LuaScript(body, sha))

    return apply


def in_statement(module: Any, name: str, text: str, instead: str) -> Break:
    """The statement of this name has another text."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(module, name, _replace(getattr(module, name), text, instead))

    return apply


def in_function(module: Any, name: str, instead: Callable[..., object]) -> Break:
    """Another function in place of this one."""
    return lambda patch: patch.setattr(module, name, instead)


class _Functions(dict[str, str]):
    """The functions of the database, by app. A text that is set is run on every database."""

    def __setitem__(self, app: str, text: str) -> None:
        super().__setitem__(app, text)
        for alias in all_aliases()[1:]:
            execute(alias, text.replace("%", "%%"))


def in_database(app: str, text: str, instead: str) -> Break:
    """A function of this app has another text."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        functions = _Functions({app: functions_of(app)})
        patch.setitem(functions, app, _replace(functions[app], text, instead))

    return apply


def _replace(body: str, text: str, instead: str) -> str:
    assert text in body, f"the safeguard has another text now: {text}"
    return body.replace(text, instead)


VALUE_FENCE = ("not end_load(KEYS[2], ARGV[1]) or is_newer(", "is_newer(")
HASH_FENCE = ("if not end_load(KEYS[2], ARGV[1]) then", "if false then")
LIST_FENCE = ("if not end_load(KEYS[1], ARGV[1]) then", "if false then")


def _close_after_attempt(one: Any) -> bool:
    """As before decision 0038."""
    if one._attempt():
        one._recovering = None
    return one._recovering is None


def _believe(memory: Memory[Any], known: Remembered[Any], replies: object) -> Any:
    return known.value


def _send_nothing(calls: UnsentCalls, clear: Callable[[], object]) -> bool:
    calls._items.clear()
    return True


# As before decision 0039: what a change left in Redis to stop a load was lost in a flush.
LOST_FENCE = (
    "if redis.call('GET', key) ~= token then",
    "local now = redis.call('GET', key)\n  if now and now ~= token then",
)
LOST_PAIR_FENCE = (
    "if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then",
    "local now = redis.call('HGET', KEYS[3], ARGV[1])\nif now and now ~= ARGV[2] then",
)
PAIR_FENCE = ("if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then", "if false then")
EPOCH_FENCE = (
    "if not data or sub(data, 13, HEAD) ~= ARGV[3] then",
    "data = data or ''\nif false then",
)
AFTER_WATERMARK = (
    "AND next_attempt_at <= clock_timestamp()",
    "AND id > (SELECT coalesce(max(id), 0) FROM changes_delivered WHERE lane = wanted_lane)",
)

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a loaded value is written without its token",
        loads.counts_and_follow,
        (in_script(values, "WRITE", *VALUE_FENCE),),
    ),
    Mutant(
        "a loaded week is written without its token",
        home_pages.delete_and_load,
        (in_script(hashes, "WRITE", *HASH_FENCE),),
    ),
    Mutant(
        "a loaded list is written without its token",
        loads.list_and_unfollow,
        (in_script(lists, "WRITE", *LIST_FENCE),),
    ),
    Mutant(
        "a loaded relationship is written without its validator",
        loads.relationship_and_follow,
        (in_script(relationship_cache, "WRITE", *PAIR_FENCE),),
    ),
    Mutant(
        "the flush race: a load is written when its token was lost",
        loads.flush_and_delete,
        (in_script(hashes, "WRITE", *LOST_FENCE), in_script(lists, "WRITE", *LOST_FENCE)),
    ),
    Mutant(
        "a build ends without its epoch",
        home_pages.rebuild_and_push,
        (in_script(packed, "FINISH_BUILD", *EPOCH_FENCE),),
    ),
    Mutant(
        "an old state of an edge is mirrored over a newer one",
        writes.follow_and_late_drainer,
        (
            in_database(
                "relations",
                "IF new_revision <= coalesce(old[2], 0) THEN",
                "IF new_revision = 0 THEN",
            ),
        ),
    ),
    Mutant(
        "a watermark in place of pending rows",
        writes.commits_out_of_order,
        (in_statement(batches, "TAKE", *AFTER_WATERMARK),),
    ),
    Mutant(
        "two polls of the same time count as one after the other",
        home_pages.polls_of_one_token,
        (
            in_script(
                records, "ENTER", "tonumber(old_seen) + tonumber(ARGV[8])", "tonumber(old_seen)"
            ),
        ),
    ),
    Mutant(
        "the breaker race: it closes after a call failed during its attempt",
        loads.outage_and_call,
        (in_function(Breaker, "_try_to_close", _close_after_attempt),),
    ),
    Mutant(
        "a remembered page is used without a question to Redis",
        processes.delete_and_reader_elsewhere,
        (in_function(Memory, "_confirm", _believe),),
    ),
    Mutant(
        "a changed relationship keeps its validator",
        processes.mute_and_reader_elsewhere,
        (in_script(relationship_cache, "CHANGE", "redis.call('HDEL', KEYS[3], ARGV[1])", ""),),
    ),
    Mutant(
        "what Redis did not get is not sent when it answers again",
        processes.outage_and_reader_elsewhere,
        (in_function(UnsentCalls, "send", _send_nothing),),
    ),
    Mutant(
        "a week takes a change that is older than the week",
        overlaps.delete_build_and_repeat,
        (in_script(hashes, "CHANGE", "tonumber(version) >= tonumber(ARGV[2])", "false"),),
    ),
    Mutant(
        "a build loses what is pushed during it",
        overlaps.unfollow_push_and_build,
        (in_script(packed, "FINISH_BUILD", "ARGV[5] .. sub(data, HEAD + 1)", "ARGV[5]"),),
    ),
    Mutant(
        "a loaded relationship is written when its validator was lost",
        overlaps.block_load_and_flush,
        (in_script(relationship_cache, "WRITE", *LOST_PAIR_FENCE),),
    ),
    Mutant(
        "loaded counts of a post are written without their token",
        overlaps.undo_load_and_eviction,
        (in_script(values, "WRITE", *VALUE_FENCE),),
    ),
    Mutant(
        "an author becomes hot while the set is loaded, and the load goes on",
        overlaps.hot_author_and_load,
        (in_script(directory, "ADD", "redis.call('DEL', KEYS[1])", ""),),
    ),
)
