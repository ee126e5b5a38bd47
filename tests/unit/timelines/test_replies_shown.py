"""Which replies are shown on account lists. Plain values."""

import pytest

from posts.api.present import encode_post, find_replied_to
from posts.ids import PostId
from posts.types import Kind, PostRow
from relations.queries.relationships import Relationships
from relations.types import Attribute, Relationship
from timelines.rules import VisibilityInputs, is_visible_at_home
from timelines.types import Entry

ME, FRIEND, OTHER = 1, 2, 3
FOLLOWED = Relationship(mine=Attribute.FOLLOW)
POST = PostId(9, FRIEND, 0)


def encoded(text: str = "hello", parent: PostId | None = None) -> bytes:
    target = (Kind.REPLY, parent.author_id, parent.moment) if parent else (Kind.POST,)
    return encode_post(PostRow(FRIEND, POST.moment, text, False, text, None, *target))


@pytest.mark.parametrize(
    ("parent", "replies_to", "verdict"),
    [
        (None, set(), True),
        (FRIEND, set(), True),
        (OTHER, None, True),
        (OTHER, {OTHER}, True),
        (OTHER, {ME, FRIEND}, False),
        (ME, {ME}, True),
    ],
    ids=["no reply", "to oneself", "all are shown", "to one of them", "to another", "to me"],
)
def test_reply_is_shown(parent, replies_to, verdict):
    fragment = encoded(parent=parent and PostId(5, parent, 0))
    people = {ME: b"", FRIEND: b"", OTHER: b""}
    relationships = Relationships.build(None, {FRIEND: FOLLOWED, OTHER: Relationship()})
    inputs = VisibilityInputs(ME, 0, {POST: fragment}, people, relationships, replies_to)
    assert is_visible_at_home(Entry.of_post(POST), inputs) is verdict


def test_repost_of_a_reply_is_shown_whoever_it_is_to():
    event, reply = PostId(9, FRIEND, 0), PostId(7, OTHER, 0)
    fragments = {event: b">", reply: encoded(parent=PostId(5, 4, 0))}
    relationships = Relationships.build(None, {FRIEND: FOLLOWED, OTHER: Relationship()})
    inputs = VisibilityInputs(ME, 0, fragments, {FRIEND: b"", OTHER: b""}, relationships, set())
    assert is_visible_at_home(Entry(event, reply), inputs)


@pytest.mark.parametrize(
    "text", ["", '"in_reply_to_account_id":"7"', ',"in_reply_to_account_id":"7"']
)
def test_what_people_write_is_not_taken_for_the_field(text):
    assert find_replied_to(encoded(text)) is None
    assert find_replied_to(encoded(text, PostId(5, OTHER, 0))) == OTHER
