"""The consumers of posts: they refresh caches, and record responses on the posts' shards."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence

from accounts.images.actions.place_files import list_files_left
from accounts.images.actions.use_image import end_images_of_posts
from counters.cache import account_counts, entry_of, refresh_account_counts
from counters.changes import CountsRepaired
from counters.hot_counts import find_hot_counts
from counters.queries.counts import Subject
from counters.types import Count
from infra.caching.hashes import HashChange
from infra.caching.round_trips import run_together
from infra.changes.failpoints import failpoint
from infra.changes.own_acts import settle_own_acts
from infra.changes.registry import Delivery, FollowUp, consumes
from posts.actions.delivered_responses import (
    Interactions,
    changes_viewer_state,
    iter_responses,
)
from posts.actions.end_reposts import end_reposts, undo_reposts_of_deleted
from posts.actions.orphan_replies import orphan_replies, orphan_replies_of_deleted
from posts.actions.record_responses import by_shard, fold_response_moves, write_responses
from posts.actions.share_post import Mention, end_shares, share_posts
from posts.actions.vote import delete_votes_of_posts
from posts.cache.counts import (
    ALL_KINDS,
    count_entries,
    post_counts,
    refresh_post_counts,
    store_no_responses,
)
from posts.cache.newest import end_newest_posts
from posts.cache.polls import refresh_edited_polls, refresh_polls
from posts.cache.replies import end_replies, end_replies_commands, find_answered_posts
from posts.cache.single_posts import drop_single_posts
from posts.cache.viewer_state import refresh_viewer_states
from posts.cache.weeks import WEEKS, drop_large_weeks, field_of, week_of
from posts.changes import (
    PoliciesChanged,
    PollVoted,
    PostCreated,
    PostDeleted,
    PostEdited,
    PostHidden,
    PostImagesChanged,
    PostMarked,
    QuoteRevoked,
    RepliesLeft,
    ReplyOrphaned,
    RepostsLeft,
    ResponsesPostponed,
)
from posts.fragments.present import encode_post
from posts.ids import PostId
from posts.queries.responses import find_answered
from posts.queries.rows import read_posts
from posts.types import Kind, PostRow, ResponseRow, Visibility

JUST_NOW_S = 0.05
REWRITES = (
    PostCreated, PostDeleted, PostEdited, PostHidden, PostImagesChanged, ReplyOrphaned,
    QuoteRevoked, PoliciesChanged,
)  # fmt: skip
Rewritten = (
    PostCreated | PostDeleted | PostEdited | PostHidden | PostImagesChanged | ReplyOrphaned
    | QuoteRevoked | PoliciesChanged
)  # fmt: skip
Deliveries = Sequence[Delivery[Rewritten]]


@consumes(*REWRITES, inline=True, once=True)
def refresh_cached_weeks(alias: str, deliveries: Deliveries) -> None:
    """Writes live posts to their author's cached week and removes the others from all caches.

    Safety: idempotent; writes the post as it is now. Cost: two queries, and one round trip to Redis
    inline, else four.
    """
    ids = [PostId.at(delivery.owner_id, delivery.payload.moment) for delivery in deliveries]
    rows = [d.written.row for d in deliveries if d.written is not None]
    live = _by_id(rows if len(rows) == len(ids) else read_posts(alias, ids))
    weeks = list(dict.fromkeys(map(week_of, ids)))
    changes = [_change_of(i, d, live) for i, d in zip(ids, deliveries, strict=True)]
    run_together([WEEKS.change_command(*week_of(i), c) for i, c in zip(ids, changes, strict=True)])
    known = {i for i, d in zip(ids, deliveries, strict=True) if d.payload.kind != PostCreated.kind}
    run_together(drop_single_posts(known))
    end_newest_posts({i.author_id for i in ids})
    drop_large_weeks(weeks)
    _refresh_counts(deliveries)


def _by_id(rows: Iterable[PostRow | None]) -> dict[PostId, PostRow]:
    return {PostId.at(row.author_id, row.moment): row for row in rows if row}


def _refresh_counts(deliveries: Deliveries) -> None:
    """The counts of the authors; and those of a post that was written just now, which are zero."""
    written = {d.owner_id: entry_of(d.written.counts) for d in deliveries if d.written is not None}
    account_counts.refresh(written)
    refresh_account_counts(d.owner_id for d in deliveries if d.owner_id not in written)
    created = [d for d in deliveries if isinstance(d.payload, PostCreated)]
    posts = [d.written for d in created if d.written is not None]
    # A call that was kept while Redis was away comes late: others may have responded by then.
    new = [post for post in posts if time.monotonic() - post.at_s < JUST_NOW_S]
    until = min((post.at_s for post in new), default=0.0) + JUST_NOW_S
    store_no_responses([PostId.at(post.row.author_id, post.row.moment) for post in new], until)


def _change_of(
    post_id: PostId,
    delivery: Delivery[Rewritten],
    live: Mapping[PostId, PostRow],
) -> HashChange:
    """How the post changed its week."""
    row, field = live.get(post_id), field_of(post_id)
    before, after = delivery.payload.before, delivery.payload.after
    if row is None:
        return HashChange(before, after, {}, [field])
    return HashChange(before, after, {field: encode_post(row)}, [])


@consumes(PollVoted, inline=True)
def refresh_voted_polls(alias: str, deliveries: Sequence[Delivery[PollVoted]]) -> None:
    """Refreshes the cached polls, and the votes of the accounts that voted.

    Safety: idempotent; writes polls as they are now. Cost: two queries, two round trips to Redis.
    """
    refresh_polls(
        (PostId.at(delivery.owner_id, delivery.payload.moment), delivery.payload.voter)
        for delivery in deliveries
    )


@consumes(PostEdited, inline=True)
def refresh_polls_of_edited(alias: str, deliveries: Sequence[Delivery[PostEdited]]) -> None:
    """Refreshes the cached polls that an edit replaced. Safety: idempotent. Cost: one query."""
    edited = [d for d in deliveries if d.payload.has_new_poll]
    if edited:
        refresh_edited_polls(PostId.at(d.owner_id, d.payload.moment) for d in edited)


@consumes(PostDeleted)
def delete_votes(alias: str, deliveries: Sequence[Delivery[PostDeleted]]) -> None:
    """Deletes the votes of polls whose post is deleted. Safety: idempotent. One statement."""
    delete_votes_of_posts(
        alias, [PostId.at(delivery.owner_id, delivery.payload.moment) for delivery in deliveries]
    )


@consumes(PostDeleted, PostHidden)
def place_images_of_posts(
    alias: str, deliveries: Sequence[Delivery[PostDeleted | PostHidden]]
) -> list[FollowUp]:
    """Lets the files of deleted posts go, and those of hidden ones move.

    Safety: idempotent. One statement and one query.
    """
    gone = [d for d in deliveries if isinstance(d.payload, PostDeleted)]
    end_images_of_posts(alias, [(d.owner_id, d.payload.moment) for d in gone])
    return list_files_left(alias, [d.owner_id for d in deliveries])


@consumes(PostCreated, PostDeleted, PostMarked, inline=True, once=True)
def refresh_changed_viewer_states(alias: str, deliveries: Interactions) -> None:
    """Refreshes the viewer state of accounts that reposted or marked a post.

    Cost: two queries, one round trip.
    """
    owners = {
        delivery.owner_id for delivery in deliveries if changes_viewer_state(delivery.payload)
    }
    if owners:
        refresh_viewer_states(owners)


@consumes(PostCreated, PostDeleted, PostMarked, QuoteRevoked)
def record_responses(alias: str, deliveries: Interactions) -> None:
    """Records replies, reposts, reactions and quotes on the shard of the post, and counts them.

    Safety: idempotent, in any order: writes each response as it is now, and only if its revision is
    newer. Refreshes the caches even if no row changed, because an earlier run may have died after
    writing the rows.
    """
    groups = by_shard(iter_responses(alias, deliveries))
    hot = _find_hot(groups)
    counts: dict[Subject, list[Count]] = {}
    for target, group in groups.items():
        counts |= write_responses(target, group, hot=hot)
    failpoint("posts.responses_recorded")
    # After all rows: without Redis the rows at least are current.
    responses = [response for group in groups.values() for response in group]
    post_counts.refresh(count_entries(counts), end_replies_commands(find_answered_posts(responses)))
    settle_own_acts(deliveries, ALL_KINDS)


@consumes(PostCreated, PostEdited)
def share_with_followers_of_objects(
    alias: str, deliveries: Sequence[Delivery[PostCreated | PostEdited]]
) -> None:
    """Lets objects share the posts that mention them, and not those that do so no longer.

    Safety: idempotent. Cost: nothing without mentions; else as `share_posts`.
    """
    begun, ended = set[Mention](), set[Mention]()
    for delivery in deliveries:
        before, after = _mentioned_openly(delivery.payload)
        post_id = PostId.at(delivery.owner_id, delivery.payload.moment)
        begun |= {(account_id, post_id) for account_id in after - before}
        ended |= {(account_id, post_id) for account_id in before - after}
    if begun:
        share_posts(sorted(begun))
    if ended:
        end_shares(sorted(ended))


def _mentioned_openly(post: PostCreated | PostEdited) -> tuple[set[int], set[int]]:
    """The accounts that a public post mentions, before and after the change; none for a reply."""
    is_reply = post.thread is not None or (isinstance(post, PostCreated) and post.target)
    if is_reply or post.visibility != Visibility.PUBLIC:
        return set(), set()
    before = set(post.mentioned_before) if isinstance(post, PostEdited) else set[int]()
    return before, set(post.mentioned)


@consumes(CountsRepaired, inline=True)
def end_repaired_replies(alias: str, deliveries: Sequence[Delivery[CountsRepaired]]) -> None:
    """Ends the cached replies to posts whose responses were recorded again. One round trip."""
    end_replies([PostId.at(d.owner_id, d.payload.subject) for d in deliveries if d.payload.subject])


@consumes(PostCreated, PostDeleted)
def end_reposts_of_deleted_posts(
    alias: str, deliveries: Sequence[Delivery[PostCreated | PostDeleted]]
) -> list[FollowUp]:
    """Begins to undo the reposts of deleted posts, and undoes new reposts of such posts.

    A repost that is created while its original is deleted is found here or there: this runs after
    `record_responses`. Safety: idempotent. Cost: one query for deleted posts, one for each shard of
    reposted ones.
    """
    reposts, gone = [], []
    for delivery in deliveries:
        post_id = PostId.at(delivery.owner_id, delivery.payload.moment)
        target = delivery.payload.target
        is_repost = target is not None and target.kind == Kind.REPOST
        if isinstance(delivery.payload, PostDeleted) and not is_repost:
            gone.append(post_id)
        elif isinstance(delivery.payload, PostCreated) and target is not None and is_repost:
            reposts.append((delivery.owner_id, target.post_id))
    undo_reposts_of_deleted(reposts)
    reposted = find_answered(alias, gone, [Kind.REPOST])
    return [FollowUp(i.author_id, RepostsLeft(i.moment)) for i in reposted]


@consumes(RepostsLeft)
def end_reposts_left(alias: str, deliveries: Sequence[Delivery[RepostsLeft]]) -> list[FollowUp]:
    """Undoes a page of the reposts of each post. Safety and cost: as `end_reposts`."""
    follow_ups = []
    for delivery in deliveries:
        moment, after = delivery.payload.moment, delivery.payload.after
        last = end_reposts(PostId.at(delivery.owner_id, moment), after)
        if last is not None:
            follow_ups.append(FollowUp(delivery.owner_id, RepostsLeft(moment, last)))
    return follow_ups


@consumes(PostCreated, PostDeleted)
def orphan_replies_of_deleted_posts(
    alias: str, deliveries: Sequence[Delivery[PostCreated | PostDeleted]]
) -> list[FollowUp]:
    """Begins to orphan the replies to deleted posts, and orphans new replies to such posts.

    It works as `end_reposts_of_deleted_posts`, with the same safety and cost.
    """
    replies, gone = [], []
    for delivery in deliveries:
        post_id = PostId.at(delivery.owner_id, delivery.payload.moment)
        target = delivery.payload.target
        if isinstance(delivery.payload, PostDeleted):
            gone.append(post_id)
        elif target is not None and target.kind == Kind.REPLY:
            replies.append((post_id, target.post_id))
    orphan_replies_of_deleted(replies)
    answered = find_answered(alias, gone, [Kind.REPLY, Kind.CLOSED_REPLY])
    return [FollowUp(i.author_id, RepliesLeft(i.moment)) for i in answered]


@consumes(RepliesLeft)
def orphan_replies_left(alias: str, deliveries: Sequence[Delivery[RepliesLeft]]) -> list[FollowUp]:
    """Orphans a page of the replies to each post. Safety and cost: as `orphan_replies`."""
    pages = [
        (delivery.owner_id, orphan_replies(delivery.owner_id, delivery.payload))
        for delivery in deliveries
    ]
    return [FollowUp(owner_id, page) for owner_id, page in pages if page is not None]


@consumes(ResponsesPostponed)
def fold_responses(alias: str, deliveries: Sequence[Delivery[ResponsesPostponed]]) -> None:
    """Brings the counts of posts up to responses whose moves were postponed."""
    posts = {PostId.at(delivery.owner_id, delivery.payload.moment) for delivery in deliveries}
    fold_response_moves(alias, posts)
    failpoint("posts.responses_folded")
    refresh_post_counts(posts)


def _find_hot(groups: Mapping[str, Sequence[ResponseRow]]) -> Collection[Subject]:
    """Posts whose counts are written very often. One round trip if there are responses."""
    posts = {response[:2] for group in groups.values() for response in group}
    return find_hot_counts(posts) if posts else ()
