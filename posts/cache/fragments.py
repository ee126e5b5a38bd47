"""Fragments of posts, from process memory and else from the week cache."""

import time
from collections.abc import Collection

from infra.caching.invalidation_log import LogOffset, LogQuestion
from infra.caching.questions import Question
from posts.cache.in_process import in_process_posts
from posts.cache.weeks import Fragments, ask_weeks
from posts.ids import PostId


def ask_fragments(
    ids: Collection[PostId], since: LogOffset | None = None, log: LogQuestion | None = None
) -> Question[Fragments]:
    """Fragments of the posts that exist.

    `since`: of the invalidation log; without it process memory is not used. `log`: asked before in
    the same round trip; the caller checks that nothing came after `since`. Cost: as `ask_weeks` for
    posts that are not in memory.
    """
    if not ids:
        return Question((), lambda _: {})
    in_memory = in_process_posts.find(ids, since)
    missing = [i for i in ids if i not in in_memory] if len(in_memory) < len(ids) else []

    def keep(loaded: Fragments) -> Fragments:
        in_process_posts.keep(loaded, since if log is None else log.value)
        return in_memory | loaded

    return ask_weeks(missing, time.time()).then(keep, has_copies=bool(in_memory))
