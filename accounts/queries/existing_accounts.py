"""Which accounts exist and may be shown: ids in process memory, for at most KEPT_S.

A suspended account must disappear at once. So a request uses an id from memory only if it has also
read the invalidation log, which names restricted accounts.
"""

import time
from collections.abc import Collection, Mapping, Sequence, Set
from functools import partial

from accounts.cache import profiles
from infra.caching.copy_ages import AgeLimit
from infra.caching.invalidation import register_copies
from infra.caching.invalidation_log import LogQuestion
from infra.caching.process_cache import ProcessCache, ProcessCacheReply
from infra.caching.process_memory import most_entries
from infra.caching.questions import Question, answer

KEPT_S = 60.0
MOST_IDS = most_entries("accounts.existing", share=0.015, bytes_each=140)

_existing: ProcessCache[int, bool] = ProcessCache(
    "accounts.existing", MOST_IDS, AgeLimit(KEPT_S, KEPT_S)
)
register_copies(profiles.family, _existing)


def ask_existing(account_ids: Sequence[int], log: LogQuestion | None = None) -> Question[Set[int]]:
    """Those of the ids that are accounts which may be shown.

    `log`: asked before in the same round trip, unless this request has read the log already. Cost:
    one command for ids that are not in memory; after an entry of the log one more round trip for
    those that were. Shards give what Redis lacks.
    """
    if log is not None and log.since is None:
        copies = ProcessCacheReply[int, bool]({}, list(account_ids), time.monotonic())
    else:
        copies = _existing.split(account_ids)
    return profiles.ask_uncopied(copies.missing).then(partial(_merge, copies, log))


def are_known_to_exist(account_ids: Collection[int]) -> bool:
    """Whether all of them are accounts that may be shown. Only for a read in the read window, which
    need not read the log."""
    return _existing.has_all(account_ids)


def _merge(
    copies: ProcessCacheReply[int, bool], log: LogQuestion | None, entries: Mapping[int, bytes]
) -> Set[int]:
    """All existing accounts, after those that were missing are in process memory too."""
    if entries:
        _existing.store(dict.fromkeys(entries, True), copies.asked_at)
    known = _confirm(copies.hits, log)
    return known | entries.keys() if entries else known


def _confirm(known: Mapping[int, bool], log: LogQuestion | None) -> Set[int]:
    """The ids, after they were asked again if the log has news. Without Redis the shards know."""
    if log is None or not known:
        return known.keys()
    if log.is_away:
        return answer(profiles.ask_uncopied(list(known))).keys()
    return known.keys() if log.value == log.since else answer(ask_existing(list(known)))
