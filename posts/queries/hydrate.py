"""Hydration: loads posts with their authors and counts, in one round trip when warm."""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from accounts.queries.in_process import (
    AccountReadPlan,
    complete_accounts,
    plan_accounts,
    plan_accounts_from_redis,
)
from infra.caching.client import Command, redis
from infra.caching.invalidation_log import LOG, LogOffset, LogRead
from infra.caching.replies import split_replies
from posts.api.present import NO_COUNTS, is_repost, present_repost, present_status
from posts.cache.counts import complete_counts, plan_counts, plan_counts_from_redis
from posts.cache.in_process import in_process_posts
from posts.cache.viewer_state import Flags
from posts.cache.weeks import Fragments, complete_posts, plan_posts
from posts.ids import PostId, authors_of


class Hydrated(NamedTuple):
    """Posts with everything that their JSON needs, except the viewer's flags.

    `fragments`: of the posts that exist. `accounts`: Account JSON by author. `counts`: JSON by
    post. `extra`: the replies to the caller's commands; None without Redis. `has_copies`: some
    accounts or counts are from process memory.
    """

    fragments: Fragments
    accounts: Mapping[int, bytes]
    counts: Mapping[PostId, bytes]
    extra: Sequence[Any] | None
    has_copies: bool

    def has_both(self, event: PostId, original: PostId) -> bool:
        """Whether the event, its original and both authors exist, and the original is no repost.

        The fragment of a repost is no JSON without its original.
        """
        return (
            event in self.fragments
            and original in self.fragments
            and not is_repost(self.fragments[original])
            and event.author_id in self.accounts
            and original.author_id in self.accounts
        )

    def present_all(self, ids: Collection[PostId], flags: Flags) -> dict[PostId, bytes]:
        """The Status entity of each post. All must exist (`has_both`); none may be a repost.

        `flags`: the viewer's flags by post.
        """
        fragments, accounts, counts = self.fragments, self.accounts, self.counts
        return {
            i: present_status(
                fragments[i], accounts[i.author_id], counts.get(i, NO_COUNTS), flags.get(i, 0)
            )
            for i in ids
        }

    def present(self, event: PostId, original: PostId, flags: int = 0) -> bytes:
        """The Status entity of a post, or of a repost around its original.

        Both must exist (`has_both`). `flags`: the viewer's flags of the original.
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
    is_current: bool = False,
) -> Hydrated:
    """Loads posts, authors and counts. `extra` commands run in the same round trip.

    `reposts`: the reposts that show some of the posts; reposts have no counts of their own.
    `offset`: the offset of the invalidation log in this request. Without it the log is read in the
    same round trip; then only accounts, but no posts, come from process memory. `is_current`: no
    accounts and counts from process memory, for a viewer who wrote lately. Cost: one round trip and
    no SQL when warm; no round trip if all is in process memory. Data that Redis lacks is read from
    its shard, once.
    """
    wanted = dict.fromkeys([*ids, *reposts])
    in_memory = in_process_posts.find(wanted, offset)
    missing = wanted.keys() - in_memory.keys() if len(in_memory) < len(wanted) else ()
    # Plan the log read before the accounts: then the reply has every entry that another thread
    # applies in between.
    log_read = LOG.plan_read() if offset is None and wanted else None
    authors = _plan_accounts(authors_of(wanted), log_read, is_current)
    plan = plan_counts_from_redis if is_current else plan_counts
    counts = plan(dict.fromkeys(ids) if reposts else wanted)
    has_copies = bool(authors.known or counts.in_memory)
    if not (missing or log_read or authors.missing or counts.missing or extra):
        return Hydrated(in_memory, authors.known, counts.in_memory, (), has_copies)
    posts = plan_posts(missing, time.time())
    log_commands = [log_read.command()] if log_read else []
    parts = [posts.commands(), authors.commands(), counts.commands(), log_commands, list(extra)]
    replies, is_away = _run([command for part in parts for command in part])
    post_replies, author_replies, count_replies, entries, extra_replies = split_replies(
        replies, parts
    )
    accounts = complete_accounts(authors, author_replies)
    if log_read:
        accounts = _confirm(accounts, authors.known, log_read, None if is_away else entries[0])
    loaded = complete_posts(posts, post_replies)
    in_process_posts.keep(loaded, offset)
    fragments = in_memory | loaded
    return Hydrated(
        fragments,
        accounts,
        complete_counts(counts, count_replies, fragments),
        None if is_away else extra_replies,
        has_copies,
    )


def _plan_accounts(
    account_ids: Collection[int], log_read: LogRead | None, is_current: bool
) -> AccountReadPlan:
    """Uses process memory only if the log can tell whether the memory is current."""
    if is_current or (log_read and log_read.since is None):
        return plan_accounts_from_redis(account_ids)
    return plan_accounts(account_ids)


def _confirm(
    accounts: dict[int, bytes], from_memory: Collection[int], log_read: LogRead, entries: Any | None
) -> dict[int, bytes]:
    """The accounts, after those from memory that the log invalidates were read again.

    Without Redis (`entries` None) all of those from memory are read again. Cost: nothing, or one
    round trip if the log has new entries.
    """
    if entries is None:
        again = plan_accounts_from_redis(from_memory)
    elif LOG.apply(log_read, entries) == log_read.since:
        return accounts
    else:
        again = plan_accounts(from_memory)
    current = {i: account for i, account in accounts.items() if i not in again.missing}
    return current | complete_accounts(again, _run(again.commands())[0])


def _run(commands: Sequence[Command]) -> tuple[Sequence[Any], bool]:
    """The replies, and whether Redis is away; then all replies are None."""
    try:
        return redis().run(commands), False
    except RedisError:
        return [None] * len(commands), True
