"""Posts with everything that is shown with them, in one round trip when warm."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from accounts.queries.in_process import (
    AccountReadPlan,
    complete_accounts,
    plan_accounts,
    plan_accounts_from_redis,
)
from infra.caching.client import Command, redis
from posts.api.present import NO_COUNTS, present_repost, present_status
from posts.cache.counts import complete_counts, plan_counts
from posts.cache.in_process import LogOffset, LogRead, in_process_posts
from posts.cache.viewer_state import Flags
from posts.cache.weeks import Fragments, complete_posts, plan_posts
from posts.ids import PostId, authors_of


class Hydrated(NamedTuple):
    """What is shown of posts, as it is now.

    `fragments`: posts that exist. `accounts`: JSON by author. `counts`: JSON by post.
    `extra`: the caller's replies.
    """

    fragments: Fragments
    accounts: Mapping[int, bytes]
    counts: Mapping[PostId, bytes]
    extra: Sequence[Any] | None

    def shows(self, event: PostId, original: PostId) -> bool:
        """Whether both exist, and who made them."""
        return (
            event in self.fragments
            and original in self.fragments
            and event.author_id in self.accounts
            and original.author_id in self.accounts
        )

    def present_all(self, ids: Collection[PostId], flags: Flags) -> dict[PostId, bytes]:
        """The Status entity of each of the posts, once `shows` says so of all, in bulk.

        `flags`: what the viewer did with them.
        """
        fragments, accounts, counts = self.fragments, self.accounts, self.counts
        return {
            i: present_status(
                fragments[i], accounts[i.author_id], counts.get(i, NO_COUNTS), flags.get(i, 0)
            )
            for i in ids
        }

    def present(self, event: PostId, original: PostId, flags: int = 0) -> bytes:
        """The Status entity of a post, or of a repost around what it shows, once `shows` says so.

        `flags`: what the viewer did with the original.
        """
        counts = self.counts.get(original, NO_COUNTS)
        account = self.accounts[original.author_id]
        status = present_status(self.fragments[original], account, counts, flags)
        if event is original or event == original:
            return status
        by = self.accounts[event.author_id]
        return present_repost(self.fragments[event], by, status, counts, flags)


def hydrate(
    ids: Sequence[PostId],
    extra: Sequence[Command] = (),
    offset: LogOffset | None = None,
    reposts: Sequence[PostId] = (),
) -> Hydrated:
    """Loads posts, authors and counts; `extra` commands ride along (replies None without Redis).

    `reposts`: the reposts that show some of the posts; they have no counts of their own.
    `offset`: the offset of the invalidation log in this request (posts.cache.in_process);
    without it the log is read along, and of process memory only cards are used.
    Cost: one round trip and no SQL when warm, no round trip when all is in process memory; what
    is missing comes from its shard, once.
    """
    wanted = dict.fromkeys([*ids, *reposts])
    known = in_process_posts.find(wanted, offset)
    unknown = wanted.keys() - known.keys() if len(known) < len(wanted) else ()
    # The log_read before the cards: what another thread learns between the two is news to this one.
    log_read = in_process_posts.plan_log_read() if offset is None and wanted else None
    cards = _plan_cards(authors_of(wanted), log_read)
    counts = plan_counts(dict.fromkeys(ids) if reposts else wanted)
    if not (unknown or log_read or cards.missing or counts.missing or extra):
        return Hydrated(known, cards.known, counts.known, ())
    posts = plan_posts(unknown, time.time())
    looks = [log_read.command()] if log_read else []
    parts = [posts.commands(), cards.commands(), counts.commands(), looks, list(extra)]
    commands = [command for part in parts for command in part]
    replies, is_away = _ask(commands)
    post_replies, card_replies, count_replies, news, extra_replies = _split(replies, parts)
    accounts = complete_accounts(cards, card_replies)
    if log_read:
        accounts = _confirm(accounts, cards.known, log_read, None if is_away else news[0])
    loaded = complete_posts(posts, post_replies)
    in_process_posts.keep(loaded, offset)
    fragments = known | loaded
    return Hydrated(
        fragments,
        accounts,
        complete_counts(counts, count_replies, fragments),
        None if is_away else extra_replies,
    )


def _plan_cards(account_ids: Collection[int], log_read: LogRead | None) -> AccountReadPlan:
    """From process memory only where the log can tell whether it holds."""
    return (
        plan_accounts_from_redis(account_ids)
        if log_read and log_read.since is None
        else plan_accounts(account_ids)
    )


def _confirm(
    accounts: dict[int, bytes], from_memory: Collection[int], log_read: LogRead, news: Any | None
) -> dict[int, bytes]:
    """The cards, those from memory read anew that the log has news of; all of them without Redis
    (`news` None). Cost: nothing, where there is news of them one round trip."""
    if news is None:
        held = plan_accounts_from_redis(from_memory)
    elif in_process_posts.apply_log(log_read, news) == log_read.since:
        return accounts
    else:
        held = plan_accounts(from_memory)
    kept = {i: card for i, card in accounts.items() if i not in held.missing}
    return kept | complete_accounts(held, _ask(held.commands())[0])


def _split(replies: Sequence[Any], parts: Sequence[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """The replies to each part."""
    left = iter(replies)
    return (list(islice(left, len(part))) for part in parts)


def _ask(commands: Sequence[Command]) -> tuple[Sequence[Any], bool]:
    try:
        return redis().run(commands), False
    except RedisError:
        return [None] * len(commands), True
