"""Histories of conversations: direct posts that come and go on several lanes at the same time."""

from collections.abc import Mapping
from functools import partial
from json import dumps

from infra.changes.models import Change
from infra.changes.registry import Delivery, read_payload
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.conversations.actions.edit_conversation import mark
from posts.conversations.consumers import record_direct_posts
from posts.conversations.queries.participants import participants_of
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.queries.rows import read_posts
from posts.types import Draft, Visibility
from tests.interleavings.acts import drain_lanes_of
from tests.interleavings.edits import change
from tests.interleavings.exploring import Play
from tests.interleavings.scheduler import Call
from tests.truth import rows_of
from tests.world import drain_all, make_accounts

DIRECT = "SELECT author_id, moment FROM posts_post WHERE deleted_at IS NULL AND visibility = 3"
LISTED = """
SELECT owner_id, thread_author, thread_moment, last_second, last_author, last_sequence
FROM conversations_conversation
"""
ARRIVALS = "SELECT owner_id, second, author_id, sequence, arrival FROM conversations_directpost"
LATEST = """
SELECT last_author, is_unread::int FROM conversations_conversation WHERE owner_id = {}
"""
NAMES = "SELECT id, username FROM accounts_account"


def late_post_and_deletion() -> Play:
    """The only post that an account has of a thread is deleted, while an earlier one comes late."""
    me, one, other = make_accounts(3)
    first = write(one, me)
    delete = partial(delete_post, write(other, me, thread=first))
    drain_lanes_of(other)
    delete()
    return play({"late": partial(deliver, one), "gone": partial(deliver, other)})


def deletions_of_two() -> Play:
    """The two latest posts of a thread are deleted, and are on different lanes."""
    me, two, three = make_accounts(3)
    first = write(me)
    later = [write(author, me, thread=first) for author in (two, three)]
    drain_all()
    for post in later:
        delete_post(post)
    return play({"third": partial(deliver, three), "second": partial(deliver, two)})


def replies_of_two() -> Play:
    """Two accounts answer at the same moment, and their answers are delivered in any order."""
    me, one, two = make_accounts(3)
    first = write(me, one, two)
    drain_all()
    return play(
        {
            "other delivery": partial(deliver, one),
            "answer": partial(write, two, me, one, thread=first),
            "delivery": partial(deliver, two),
            "other answer": partial(write, one, me, two, thread=first),
        }
    )


def edit_deletion_and_two_drainers() -> Play:
    """A drainer loses its lease before it records a post, which then names another account, and is
    deleted."""
    me, other, named = make_accounts(3)
    first = write(me, other)
    drain_all()
    post = write(me, other, thread=first)
    return play(
        {
            "edit": partial(change, post, f"@{name_of(named)}"),
            "delete": partial(delete_post, post),
            "another drainer": partial(drain_lanes_of, me),
            "drainer": partial(deliver, me),
        }
    )


def read_mark_and_post() -> Play:
    """A conversation is marked as read, while its next post is delivered."""
    me, one, two = make_accounts(3)
    first = write(one, me)
    drain_all()
    write(two, me, thread=first)
    after_mark: list[tuple[int, ...]] = []

    def read() -> None:
        mark(me, first, is_unread=False)
        after_mark.extend(rows_of(LATEST.format(me)))

    def check() -> None:
        assert_agree()
        is_unread = after_mark[0][0] == one  # then the other post was delivered after the mark
        assert rows_of(LATEST.format(me)) == [(two, int(is_unread or after_mark[0][1]))]

    return Play((), {"read": read, "drain": partial(deliver, two)}, check=check)


def deliver(author: int) -> None:
    """As a drainer does, which calls this one consumer."""
    alias = shard_of(author)
    rows = Change.objects.on(alias).filter(owner_id=author).order_by("id")
    record_direct_posts(
        alias,
        [
            Delivery(row.id, author, row.created_at, read_payload(row.kind, dumps(row.payload)))
            for row in rows
        ],
    )


def play(actors: Mapping[str, Call]) -> Play:
    return Play((), actors, (PostNotFound,), check=assert_agree)


def assert_agree() -> None:
    """The conversations of all accounts are the threads of the live direct posts.

    The last post of one second is the one that arrived last on the owner's shard.
    """
    drain_all()
    arrivals = {row[:4]: row[4] for row in rows_of(ARRIVALS)}
    expected: dict[tuple[int, ...], PostId] = {}
    for row in rows_of(DIRECT):
        post_id = PostId.at(*row)
        [post] = read_posts(shard_of(post_id.author_id), [post_id])
        for owner in participants_of(post):
            key = (owner, post.thread.author_id, post.thread.moment)
            one = expected.get(key, post_id)
            expected[key] = max(
                post_id, one, key=lambda i, owner=owner: (i.second, arrivals[owner, *i])
            )
    assert {row[:3]: PostId(*row[3:]) for row in rows_of(LISTED)} == expected


def write(author: int, *others: int, thread: PostId | None = None) -> PostId:
    """A direct post to these accounts."""
    text = " ".join(f"@{name_of(one)}" for one in others)
    return create_post(
        author, Draft(text, visibility=Visibility.DIRECT, in_reply_to=thread, thread=thread)
    )


def name_of(account: int) -> str:
    (name,) = [
        name for one, name in rows_of("SELECT id, username FROM accounts_account") if one == account
    ]
    return str(name)
