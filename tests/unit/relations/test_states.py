"""Every act in every state, alone and in every order."""

import itertools

import pytest

from relations.errors import CannotFollowBlocked
from relations.states import BLOCK_STEP, NEXT, Act, act_of, as_faced, blocks_so_far, step
from relations.types import FOLLOWS, NO_EDGE, NO_OPTIONS, Attribute, Edge, Flag, FollowOptions

NONE, FOLLOW, WHISPER, BLACK = Attribute
THEN, NOW = 1_000, 2_000
ALL_FLAGS = Flag.SPECIAL | Flag.HIDES_REPOSTS | Flag.NOTIFIES
REFUSED = None
# Once more and by hand, so that the table in the code cannot agree with itself alone.
EXPECTED = {
    (NONE, Act.FOLLOW): FOLLOW,
    (NONE, Act.MAKE_QUIET): WHISPER,
    (NONE, Act.MAKE_OPEN): FOLLOW,
    (NONE, Act.UNFOLLOW): NONE,
    (NONE, Act.BLOCK): BLACK,
    (NONE, Act.UNBLOCK): NONE,
    (FOLLOW, Act.FOLLOW): FOLLOW,
    (FOLLOW, Act.MAKE_QUIET): WHISPER,
    (FOLLOW, Act.MAKE_OPEN): FOLLOW,
    (FOLLOW, Act.UNFOLLOW): NONE,
    (FOLLOW, Act.BLOCK): BLACK,
    (FOLLOW, Act.UNBLOCK): FOLLOW,
    (WHISPER, Act.FOLLOW): WHISPER,
    (WHISPER, Act.MAKE_QUIET): WHISPER,
    (WHISPER, Act.MAKE_OPEN): FOLLOW,
    (WHISPER, Act.UNFOLLOW): NONE,
    (WHISPER, Act.BLOCK): BLACK,
    (WHISPER, Act.UNBLOCK): WHISPER,
    (BLACK, Act.FOLLOW): REFUSED,
    (BLACK, Act.MAKE_QUIET): REFUSED,
    (BLACK, Act.MAKE_OPEN): REFUSED,
    (BLACK, Act.UNFOLLOW): BLACK,
    (BLACK, Act.BLOCK): BLACK,
    (BLACK, Act.UNBLOCK): NONE,
}


def edge_in(state: Attribute, flags: Flag = Flag.NOTHING) -> Edge:
    revision = BLOCK_STEP if state is BLACK else 7
    return Edge(state, revision, THEN, flags if state in FOLLOWS else Flag.NOTHING)


def test_table_names_every_act_in_every_state():
    assert EXPECTED.keys() == set(itertools.product(Attribute, Act))
    assert {(s, a): NEXT[s][a] for s in Attribute for a in Act} == EXPECTED


@pytest.mark.parametrize("flags", [Flag.NOTHING, ALL_FLAGS])
@pytest.mark.parametrize(("state", "act"), list(EXPECTED))
def test_one_act(state, act, flags):
    before, expected = edge_in(state, flags), EXPECTED[state, act]
    if expected is REFUSED:
        with pytest.raises(CannotFollowBlocked):
            step(before, act, NOW)
        return
    after = step(before, act, NOW)
    assert after.attribute is expected
    if expected is state:
        assert after is before
        return
    assert after.revision > before.revision
    stays = {state, expected} <= FOLLOWS
    assert after.flags == (before.flags if stays else Flag.NOTHING)
    assert after.since_ms == (THEN if stays or expected is NONE else NOW)


@pytest.mark.parametrize("first", Act)
def test_acts_in_every_order(first):
    """Five from nothing, each at a later time: state, date and revision follow the table."""
    for rest in itertools.product(Act, repeat=4):
        edge, blocks = NO_EDGE, 0
        for now_ms, act in enumerate((first, *rest), start=1):
            expected = EXPECTED[edge.attribute, act]
            if expected is REFUSED:
                with pytest.raises(CannotFollowBlocked):
                    step(edge, act, now_ms)
                continue
            after = step(edge, act, now_ms)
            blocks += expected is BLACK is not edge.attribute
            assert_is_next(edge, after, expected, now_ms)
            assert blocks_so_far(after) == blocks
            edge = after


def assert_is_next(edge, after, expected, now_ms):
    if expected is edge.attribute:
        assert after is edge
        return
    begins = not {edge.attribute, expected} <= FOLLOWS and expected is not NONE
    assert after.attribute is expected
    assert after.since_ms == (now_ms if begins else edge.since_ms)
    assert after.revision > edge.revision


def test_revision_grows_by_one_and_a_block_begins_a_new_count():
    """The layout that relations/states.py writes out."""
    edge, revisions = NO_EDGE, []
    for act in (Act.FOLLOW, Act.MAKE_QUIET, Act.BLOCK, Act.UNBLOCK, Act.FOLLOW, Act.BLOCK):
        edge = step(edge, act, NOW)
        revisions.append(divmod(edge.revision, 1 << 24))
    assert revisions == [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0)]


WISHES = {
    "special": (Flag.SPECIAL, True),
    "reposts": (Flag.HIDES_REPOSTS, False),
    "notify": (Flag.NOTIFIES, True),
}


@pytest.mark.parametrize("state", [NONE, FOLLOW, WHISPER])
@pytest.mark.parametrize("given", WISHES)
def test_giving_one_changes_only_that_one(state, given):
    flag, sets = WISHES[given]
    for before in (edge_in(state), edge_in(state, ALL_FLAGS)):
        on = step(before, Act.FOLLOW, NOW, FollowOptions(**{given: sets}))
        off = step(on, Act.FOLLOW, NOW, FollowOptions(**{given: not sets}))
        assert on.flags == before.flags | flag
        assert off.flags == before.flags & ~flag
        assert off.revision == on.revision + 1
        assert off.attribute is (FOLLOW if state is NONE else state)
        assert step(on, Act.FOLLOW, NOW, FollowOptions(**{given: sets})) is on
        assert step(off, Act.FOLLOW, NOW, NO_OPTIONS) is off


@pytest.mark.parametrize("state", list(FOLLOWS))
@pytest.mark.parametrize("quiet", [True, False])
def test_giving_quiet_keeps_flags_and_date(state, quiet):
    wish = FollowOptions(quiet=quiet)
    after = step(edge_in(state, ALL_FLAGS), act_of(wish), NOW, wish)
    assert (after.attribute is WHISPER) is quiet
    assert (after.flags, after.since_ms) == (ALL_FLAGS, THEN)


def test_all_given_at_once_is_one_change():
    wish = FollowOptions(quiet=True, special=True, reposts=False, notify=True)
    assert step(NO_EDGE, act_of(wish), NOW, wish) == Edge(WHISPER, 1, NOW, ALL_FLAGS)


def test_change_of_a_flag_alone_is_a_revision_and_keeps_the_date():
    after = step(edge_in(FOLLOW), Act.FOLLOW, NOW, FollowOptions(special=True))
    assert after == Edge(FOLLOW, 8, THEN, Flag.SPECIAL)


@pytest.mark.parametrize("ends", [(Act.UNFOLLOW,), (Act.BLOCK, Act.UNBLOCK)])
def test_flags_go_with_the_follow_and_do_not_come_back(ends):
    edge = edge_in(WHISPER, ALL_FLAGS)
    for act in (*ends, Act.FOLLOW):
        edge = step(edge, act, NOW)
    assert edge.attribute is FOLLOW
    assert (edge.flags, edge.since_ms) == (Flag.NOTHING, NOW)


@pytest.mark.parametrize(
    ("wish", "act"),
    [
        (NO_OPTIONS, Act.FOLLOW),
        (FollowOptions(special=True), Act.FOLLOW),
        (FollowOptions(quiet=True), Act.MAKE_QUIET),
        (FollowOptions(quiet=False), Act.MAKE_OPEN),
    ],
)
def test_wish_is_an_act(wish, act):
    assert act_of(wish) is act


@pytest.mark.parametrize(("state", "faces"), list(itertools.product(Attribute, repeat=2)))
def test_only_a_follow_is_hidden_and_only_by_a_block(state, faces):
    edge = edge_in(state, ALL_FLAGS)
    seen = as_faced(edge, edge_in(faces))
    if faces is BLACK and state in FOLLOWS:
        assert seen == Edge(NONE, edge.revision, THEN)
    else:
        assert seen is edge
