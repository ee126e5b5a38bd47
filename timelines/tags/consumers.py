"""The consumers of tags: they keep the tag index, and what home timelines need of it."""

from collections.abc import Collection, Mapping, Sequence

from accounts.changes import ProfileChanged
from infra.caller_acts import TAGGED
from infra.changes.failpoints import failpoint
from infra.changes.own_acts import settle_own_acts
from infra.changes.registry import Delivery, consumes
from infra.clock import now_ms
from posts.changes import PostCreated, PostDeleted, PostEdited, PostsImported
from posts.external.ages import split_by_age
from posts.ids import PostId
from posts.queries.responses import group_ids_by_shard
from timelines.tags.actions.index_posts import (
    TagsByPost,
    add_missing,
    index_posts,
    read_tags,
    settle_tagged,
)
from timelines.tags.cache import refresh_home_choices
from timelines.tags.changes import FollowedTagsChanged
from timelines.tags.entries import push_tag_entries

Tagged = PostCreated | PostEdited | PostDeleted
Deliveries = Sequence[Delivery[Tagged]]


@consumes(PostCreated, PostEdited, PostDeleted)
def index_tagged_posts(alias: str, deliveries: Deliveries) -> None:
    """Adds live public posts to the index, and removes the others.

    Safety: idempotent, in any order: it reads the posts as they are now. Cost: nothing without
    tags; else one query and one round trip, and one transaction and one statement for each shard
    that has one of them.
    """
    named: dict[PostId, set[str]] = {}
    for delivery in deliveries:
        if names := _names_of(delivery.payload):
            named.setdefault(PostId.at(delivery.owner_id, delivery.payload.moment), set()).update(
                names
            )
    if not named:
        return
    now = read_tags(alias, list(named))
    gone = {i: names - set(now.get(i, ())) for i, names in named.items()}
    index_posts(now, gone)
    failpoint("tags.indexed")
    push_tag_entries(now)
    settle_tagged(_list_new(deliveries, now))
    settle_own_acts(deliveries, [TAGGED])


def _list_new(
    deliveries: Deliveries, now: Mapping[PostId, Collection[str]]
) -> dict[PostId, set[str]]:
    """The tags that these changes gave to their posts, and that the posts still have."""
    new: dict[PostId, set[str]] = {}
    for delivery in deliveries:
        post_id = PostId.at(delivery.owner_id, delivery.payload.moment)
        added = set(delivery.payload.tags)
        if isinstance(delivery.payload, PostEdited):
            added -= set(delivery.payload.tags_before)
        new.setdefault(post_id, set()).update(added.intersection(now.get(post_id, ())))
    return {post_id: names for post_id, names in new.items() if names}


def _names_of(payload: Tagged) -> Collection[str]:
    """The tags that the post has or had."""
    if isinstance(payload, PostEdited):
        return {*payload.tags, *payload.tags_before}
    return payload.tags


@consumes(PostsImported)
def index_imported_tags(alias: str, deliveries: Sequence[Delivery[PostsImported]]) -> None:
    """Adds imported public posts to the index. Polls of tag pages return those of the last hour.

    Safety: idempotent. Cost: a query for each shard of the authors; two statements for each shard
    that has one of the tags.
    """
    ids = [post_id for delivery in deliveries for post_id in delivery.payload.ids]
    named: TagsByPost = {
        post_id: names
        for shard, mine in group_ids_by_shard(ids).items()
        for post_id, names in read_tags(shard, mine).items()
    }
    by_age = split_by_age(named, now_ms() / 1000)
    add_missing({post_id: named[post_id] for post_id in by_age.old}, dry_run=False)
    index_posts({post_id: named[post_id] for post_id in by_age.fresh})
    push_tag_entries({post_id: named[post_id] for post_id in by_age.fresh})


@consumes(FollowedTagsChanged, ProfileChanged, inline=True)
def refresh_changed_home_choices(
    alias: str, deliveries: Sequence[Delivery[FollowedTagsChanged | ProfileChanged]]
) -> None:
    """Writes the home tags and the choice of replies to the cache. Inline: the owner's next home
    page follows them."""
    refresh_home_choices(delivery.owner_id for delivery in deliveries)
