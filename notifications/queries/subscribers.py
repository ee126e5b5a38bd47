"""New posts, and the followers who asked to be notified of them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from infra.changes.registry import Delivery
from notifications.changes import SubscribersLeft
from notifications.types import NotificationKind, Occurrence
from posts.changes import PostCreated
from posts.ids import PostId
from posts.queries.responses import find_live_posts, revision_of
from posts.queries.threads import thread_of
from posts.types import Kind, Visibility
from relations.queries.followers import have_notified_followers
from relations.types import ListedAccount


class NewPost(NamedTuple):
    """A post that followers are notified of. `thread`: the first post of its thread."""

    post_id: PostId
    thread: PostId
    created_ms: int


def find_new_posts(alias: str, deliveries: Sequence[Delivery[PostCreated]]) -> list[NewPost]:
    """Those that go to all followers and are no reposts and no answers to others, as in Mastodon.

    Only those of authors with such followers; without the deleted ones. Cost: one query by key if
    there are any, and `have_notified_followers`.
    """
    announced = [d for d in deliveries if _is_announced(d.owner_id, d.payload)]
    authors = {delivery.owner_id for delivery in announced}
    has_any = have_notified_followers(alias, authors) if authors else {}
    posts = [_new_post(delivery) for delivery in announced if has_any.get(delivery.owner_id)]
    live = find_live_posts(alias, [post.post_id for post in posts]) if posts else set()
    return [post for post in posts if post.post_id in live]


def new_post_of(author_id: int, left: SubscribersLeft) -> NewPost:
    """The post of a follow-up change."""
    post_id = PostId.at(author_id, left.moment)
    return NewPost(post_id, PostId.at(*left.thread), left.created_ms)


def occurrences_of_new_post(
    post: NewPost, followers: Iterable[ListedAccount]
) -> Iterator[Occurrence]:
    """For each of these followers. An account that began to follow later is not notified."""
    post_id = post.post_id
    about = (NotificationKind.STATUS, post_id.moment, post_id.author_id)
    at_ms, revision = post_id.posted_at_s * 1000, revision_of(post_id, is_live=True)
    for since_ms, follower_id in followers:
        if since_ms <= post.created_ms:
            yield Occurrence(follower_id, post_id.author_id, *about, at_ms, revision, True)


def _is_announced(author_id: int, post: PostCreated) -> bool:
    if post.visibility == Visibility.DIRECT:
        return False
    target = post.target
    return target is None or (target.kind == Kind.REPLY and target.author_id == author_id)


def _new_post(delivery: Delivery[PostCreated]) -> NewPost:
    post_id = PostId.at(delivery.owner_id, delivery.payload.moment)
    created_ms = int(delivery.created_at.timestamp() * 1000)
    return NewPost(post_id, thread_of(post_id, delivery.payload), created_ms)
