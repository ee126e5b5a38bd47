"""Notifies the followers who asked for it of new posts, a page of them at a time."""

from collections.abc import Sequence

from infra.changes.registry import FollowUp
from notifications.actions.notify import notify
from notifications.changes import SubscribersLeft
from notifications.queries.muted import without_muted
from notifications.queries.subscribers import NewPost, occurrences_of_new_post
from notifications.types import Occurrence
from relations.queries.followers import list_notified_below, load_notified_followers
from relations.types import ListedAccount

# One drain notifies so many at once. Posts with more subscribers become changes of their own.
AT_ONCE = 500


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
