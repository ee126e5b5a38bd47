"""Notifies recipients on all shards of what happened.

Notifies the authors of posts that quote an edited post, a page of posts at a time.

Notifies the followers who asked for it of new posts, a page of them at a time.

Notifies the author and the voters of polls that ended, a page of voters at a time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from infra import clock
from infra.changes.failpoints import failpoint
from infra.changes.registry import FollowUp
from notifications.actions.write_notifications import by_recipient_shard, write_notifications
from notifications.cache import end_rows
from notifications.changes import NotificationsAdded, QuotingLeft, SubscribersLeft, VotersLeft
from notifications.metrics import ADDED
from notifications.queries.rows import without_muted
from notifications.queries.subscribers import NewPost, occurrences_of_new_post
from notifications.types import NotificationKind, Occurrence
from posts.ids import PostId
from posts.queries.quoting import (
    EndedPoll,
    QuotingPlace,
    list_quoting,
    list_voters,
    load_ended_polls,
)
from posts.queries.responses import revision_of
from posts.types import Kind
from relations.queries.followers import list_notified_below, load_notified_followers
from relations.types import ListedAccount


def notify(occurrences: Iterable[Occurrence]) -> list[FollowUp]:
    """Returns a follow-up change for each recipient whose devices are to be notified.

    Safety: as `write_notifications`. Cost: one round trip to each recipient's shard.
    """
    now_ms = clock.now_ms()
    follow_ups: list[FollowUp] = []
    for target, group in by_recipient_shard(occurrences).items():
        added = write_notifications(target, group, now_ms)
        ADDED.inc(added.rows)
        failpoint("notifications.recorded")
        end_rows({occurrence.owner_id for occurrence in group})
        follow_ups += [
            FollowUp(owner_id, NotificationsAdded(tuple(ids)))
            for owner_id, ids in added.to_push.items()
        ]
    return follow_ups


# One drain notifies of so many posts at once.
AT_ONCE = 500


def notify_next_quoting(author_id: int, left: QuotingLeft) -> list[FollowUp]:
    """Notifies of the next posts, and returns changes for those behind them, and for devices.

    A later edit notifies only those who were not notified of an earlier one. Safety: as
    `write_notifications`. Cost: one query, and `notify`.
    """
    place = QuotingPlace(left.of_kind, left.after, left.after_moment)
    quoting = list_quoting(PostId.at(author_id, left.moment), place, AT_ONCE)
    happened = list(_edit_occurrences(author_id, quoting, left.edited_ms))
    follow_ups = [*notify(without_muted(happened, {i: i for i in quoting}))]
    if len(quoting) == AT_ONCE:
        last = quoting[-1].author_id, quoting[-1].moment
        more = QuotingLeft(left.moment, left.edited_ms, left.of_kind, *last)
        follow_ups.append(FollowUp(author_id, more))
    elif left.of_kind == Kind.QUOTE:
        more = QuotingLeft(left.moment, left.edited_ms, Kind.CLOSED_QUOTE.value)
        follow_ups.append(FollowUp(author_id, more))
    return follow_ups


def _edit_occurrences(
    editor_id: int, quoting: Sequence[PostId], edited_ms: int
) -> Iterator[Occurrence]:
    """Each is about the post of its recipient."""
    for post_id in quoting:
        about = (NotificationKind.QUOTED_UPDATE, post_id.moment, post_id.author_id)
        revision = revision_of(post_id, is_live=True)
        yield Occurrence(post_id.author_id, editor_id, *about, edited_ms, revision, True)


def notify_few_subscribers(alias: str, posts: Sequence[NewPost]) -> list[FollowUp]:
    """Notifies the subscribers of authors of one shard, if they are few.

    Returns follow-up changes for the others, and for devices. Safety: as `write_notifications`.
    Cost: one query without subscribers; else also `notify` and `without_muted`.
    """
    authors = list(dict.fromkeys(post.post_id.author_id for post in posts))
    followers_of = load_notified_followers(alias, authors, AT_ONCE + 1) if authors else {}
    happened: list[Occurrence] = []
    follow_ups: list[FollowUp] = []
    for post in posts:
        followers = followers_of.get(post.post_id.author_id, [])
        if len(followers) > AT_ONCE:
            follow_ups.append(_rest(post, None))
        else:
            happened += occurrences_of_new_post(post, followers)
    threads = {post.post_id: post.thread for post in posts}
    return [*notify(without_muted(happened, threads)), *follow_ups]


def notify_next_subscribers(post: NewPost, below: ListedAccount | None) -> list[FollowUp]:
    """Notifies the next AT_ONCE subscribers older than `below`.

    Returns a change for those after them. Safety: as `write_notifications`. Cost: one index-only
    scan, `notify` and `without_muted`.
    """
    followers = list_notified_below(post.post_id.author_id, below, AT_ONCE)
    happened = list(occurrences_of_new_post(post, followers))
    follow_ups = notify(without_muted(happened, {post.post_id: post.thread}))
    is_last = len(followers) < AT_ONCE
    return follow_ups if is_last else [*follow_ups, _rest(post, followers[-1])]


def _rest(post: NewPost, below: ListedAccount | None) -> FollowUp:
    thread = (post.thread.author_id, post.thread.moment)
    left = SubscribersLeft(post.post_id.moment, thread, post.created_ms, below)
    return FollowUp(post.post_id.author_id, left)


# Below all ids of accounts: nothing was announced yet.
BEGINNING = 0


def announce_ends(alias: str, ends: Mapping[PostId, int]) -> list[FollowUp]:
    """Notifies the voters above an id, of each of these polls of one shard.

    From the BEGINNING the author is notified too. Returns changes for the rest of the voters, and
    for devices. Safety: as `write_notifications`. Cost: one query, one for each poll, `notify` and
    `without_muted`.
    """
    happened: list[Occurrence] = []
    follow_ups: list[FollowUp] = []
    polls = load_ended_polls(alias, list(ends))
    for poll in polls:
        post_id, after = poll.post_id, ends[poll.post_id]
        voters = list_voters(post_id, after, AT_ONCE)
        first = [post_id.author_id] if after == BEGINNING else []
        happened += _end_occurrences(poll, [*first, *voters])
        if len(voters) == AT_ONCE:
            left = VotersLeft(post_id.moment, voters[-1])
            follow_ups.append(FollowUp(post_id.author_id, left))
    threads = {poll.post_id: poll.thread for poll in polls}
    return [*notify(without_muted(happened, threads)), *follow_ups]


def _end_occurrences(poll: EndedPoll, owner_ids: Sequence[int]) -> Iterator[Occurrence]:
    """A poll ends once, so all have the same revision."""
    author_id, moment = poll.post_id.author_id, poll.post_id.moment
    about = (author_id, NotificationKind.POLL, moment, author_id)
    for owner_id in owner_ids:
        yield Occurrence(owner_id, *about, poll.ended_at_s * 1000, 1, True)
