"""Leaves out what happened in threads that the recipient has muted."""

from collections.abc import Iterator, Mapping, Sequence

from notifications.types import RESPONSE_OF, Occurrence
from posts.ids import PostId
from posts.queries.threads import AccountAndThread, find_muted_threads, load_mutes_of_own

Threads = Mapping[PostId, PostId]


def without_muted(occurrences: Sequence[Occurrence], threads: Threads) -> Iterator[Occurrence]:
    """Those that may notify. What was undone stays, because it ends a notification.

    `threads`: the first posts of the threads, by post. The threads of favourited and reposted posts
    are on the shard of the recipient. Cost: two queries by key on each shard of the recipients.
    """
    asked: dict[Occurrence, AccountAndThread] = {}
    own: dict[Occurrence, PostId] = {}
    for occurrence in occurrences:
        post_id = PostId.at(occurrence.post_author, occurrence.post_moment)
        if occurrence.is_on and occurrence.kind in RESPONSE_OF:
            own[occurrence] = post_id
        elif occurrence.is_on and post_id in threads:
            asked[occurrence] = occurrence.owner_id, threads[post_id]
    muted = find_muted_threads(set(asked.values())) if asked else set()
    mutes = load_mutes_of_own(set(own.values())) if own else {}
    silent = {i for i, mute in mutes.items() if mute.is_on}
    return (
        occurrence
        for occurrence in occurrences
        if asked.get(occurrence) not in muted and own.get(occurrence) not in silent
    )
