"""Reactions in the JSON of a post: a place has numbers, and the answer names and who reacted so."""

import orjson
import pytest

from posts.cache.viewer_state_payload import RECORD, ViewerState, add_flag, is_packed, pack, unpack
from posts.fragments.present import FLAGS, NO_COUNTS
from posts.fragments.reactions import (
    LEAST_FLAG,
    REACTION_COUNTS,
    count_at,
    open_reactions,
    with_own_reactions,
)
from posts.ids import PostId
from posts.types import Kind

NAMES = {32: "clap", 33: "cooked_it"}
CLAP, COOKED = 1 << 32, 1 << 33
POSTS = [PostId.at(author, moment) for author, moment in ((5, 1296 * 9), (7, 1296 * 8), (9, 5))]


def opened(counts: bytes) -> object:
    body = open_reactions(b"{%b}" % counts, NAMES.get)
    assert b"\x7f" not in body
    return orjson.loads(body).get("reactions")


def counted(reactions: bytes) -> bytes:
    return REACTION_COUNTS % (NO_COUNTS, reactions)


def test_counts_are_named_in_the_order_of_declaration():
    assert opened(counted(b"33:2,32:5")) == [
        {"name": "clap", "count": 5, "me": False},
        {"name": "cooked_it", "count": 2, "me": False},
    ]


@pytest.mark.parametrize("flags", [0, 1 << Kind.FAVOURITE])
def test_the_flags_of_the_reader_say_which_are_own(flags):
    own, others = with_own_reactions(counted(b"32:5"), flags | CLAP | COOKED)
    assert (others, others in FLAGS) == (flags, True)
    assert opened(own) == [
        {"name": "clap", "count": 5, "me": True},
        {"name": "cooked_it", "count": 0, "me": True},
    ]
    assert opened(with_own_reactions(NO_COUNTS, COOKED)[0]) == [
        {"name": "cooked_it", "count": 0, "me": True}
    ]


def test_a_post_without_reactions_and_one_whose_names_are_lost_have_no_field():
    assert opened(NO_COUNTS) is None
    assert opened(counted(b"44:1")) is None
    assert opened(counted(b"32:0")) is None


def test_another_count_is_put_into_a_place_or_into_a_new_one():
    assert count_at("\x7f32:5,33:1;33", 32, 6) == "\x7f32:6,33:1;33"
    assert count_at("\x7f32:5", 33, 1) == "\x7f32:5,33:1;"
    assert count_at(None, 32, 1) == "\x7f32:1;"


def test_flags_of_reactions_are_packed_with_the_others_and_cost_others_nothing():
    flags: dict[PostId, int] = {}
    for post_id, kind in ((POSTS[0], 3), (POSTS[0], 33), (POSTS[1], 47), (POSTS[1], 5)):
        add_flag(flags, post_id, kind)
    add_flag(flags, POSTS[2], Kind.BOOKMARK)
    payload = pack(ViewerState(0, flags))
    assert is_packed(payload)
    state = unpack(payload)
    assert dict(state.flags) == flags
    assert [state.flags.get(post_id) for post_id in POSTS] == [*flags.values()]
    assert (len(state.flags), bool(state.flags)) == (3, True)
    assert state.muted == {POSTS[1].public.encode()}
    assert state.flags.get(PostId.at(0, 32 * 1296)) is None
    plain = {POSTS[2]: flags[POSTS[2]]}
    assert len(pack(ViewerState(0, flags))) - len(pack(ViewerState(0, plain))) == 4 * RECORD.size
    assert min(flags[POSTS[0]], flags[POSTS[1]]) >= LEAST_FLAG
