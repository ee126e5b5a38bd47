"""Histories of edits: while pages load the old text, and while posts are deleted or hidden."""

from datetime import UTC, datetime
from functools import partial

from infra.api.pages import Window
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.actions.hide_post import hide_post
from posts.cache.weeks import WEEKS
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.queries.rows import read_posts
from posts.types import Draft
from tests.integration.timelines.homes import first_page
from tests.interleavings.acts import drain_lanes_of, evict, in_order, make_friends
from tests.interleavings.exploring import Play
from tests.world import drain_all, forget_memory, publish
from timelines.home.page import home_page


def edit_and_load() -> Play:
    """A post is edited while a page loads its week into Redis."""
    people = me, friend = make_friends()
    post = publish(friend, "the old text")
    drain_all()
    first_page(me)
    evict(WEEKS.family)()
    forget_memory()

    def edit() -> None:
        change(post, "the new text")
        (shown,) = home_page(me, Window(20)).items
        assert b"the new text" in shown
        assert b"the old text" not in shown, "the text before an edit is shown"

    return Play(people, {"edit": edit, "reader": partial(first_page, me)})


def edits_and_deletion() -> Play:
    """Two edits and a deletion of one post, while its changes are delivered."""
    people = me, friend = make_friends()
    post = publish(friend)
    return Play(
        people,
        {
            "edit": partial(change, post, "one"),
            "delete": in_order(partial(change, post, "two"), partial(delete_post, post)),
            "drain": partial(drain_lanes_of, friend),
            "reader": partial(first_page, me),
        },
        (PostNotFound,),
    )


def edit_and_hide() -> Play:
    """Moderators hide a post and show it again, while its author edits it."""
    people = me, friend = make_friends()
    post = publish(friend)
    drain_all()
    return Play(
        people,
        {
            "edit": partial(change, post, "one"),
            "hide": in_order(
                partial(hide_post, post, datetime.now(UTC), 1), partial(hide_post, post, None, 2)
            ),
            "drain": partial(drain_lanes_of, friend),
            "reader": in_order(partial(first_page, me), partial(first_page, friend)),
        },
        (PostNotFound,),
    )


def change(post: PostId, text: str) -> None:
    for row in read_posts(shard_of(post.author_id), [post]):
        edit_post(row, Draft(text))
