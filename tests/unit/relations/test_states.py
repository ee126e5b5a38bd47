"""Every transition in every state, alone and in every order."""

import itertools

import pytest

from relations.errors import CannotFollowBlocked
from relations.states import (
    BLOCK_STEP,
    EPOCH_MS,
    NEXT,
    Transition,
    as_seen_by_followee,
    ends_follow,
    last_block_turn,
    step,
    transition_of,
)
from relations.types import (
    FOLLOWS,
    NO_EDGE,
    NO_OPTIONS,
    REQUESTS,
    Attribute,
    Edge,
    EdgeFlag,
    FollowOptions,
)

NONE, FOLLOW, WHISPER, BLACK, ASKED, ASKED_QUIETLY = Attribute
STATES = tuple(Attribute)
LIVE = FOLLOWS | REQUESTS
THEN, NOW = 1_000, 2_000
ALL_FLAGS = EdgeFlag.SPECIAL | EdgeFlag.HIDES_REPOSTS | EdgeFlag.NOTIFIES | EdgeFlag.ENDORSED
REFUSED = None
# The table again, written by hand, so that the code is not compared with itself.
EXPECTED = {
    (NONE, Transition.FOLLOW): FOLLOW,
    (NONE, Transition.MAKE_QUIET): WHISPER,
    (NONE, Transition.MAKE_OPEN): FOLLOW,
    (NONE, Transition.UNFOLLOW): NONE,
    (NONE, Transition.BLOCK): BLACK,
    (NONE, Transition.UNBLOCK): NONE,
    (FOLLOW, Transition.FOLLOW): FOLLOW,
    (FOLLOW, Transition.MAKE_QUIET): WHISPER,
    (FOLLOW, Transition.MAKE_OPEN): FOLLOW,
    (FOLLOW, Transition.UNFOLLOW): NONE,
    (FOLLOW, Transition.BLOCK): BLACK,
    (FOLLOW, Transition.UNBLOCK): FOLLOW,
    (WHISPER, Transition.FOLLOW): WHISPER,
    (WHISPER, Transition.MAKE_QUIET): WHISPER,
    (WHISPER, Transition.MAKE_OPEN): FOLLOW,
    (WHISPER, Transition.UNFOLLOW): NONE,
    (WHISPER, Transition.BLOCK): BLACK,
    (WHISPER, Transition.UNBLOCK): WHISPER,
    (BLACK, Transition.FOLLOW): REFUSED,
    (BLACK, Transition.MAKE_QUIET): REFUSED,
    (BLACK, Transition.MAKE_OPEN): REFUSED,
    (BLACK, Transition.UNFOLLOW): BLACK,
    (BLACK, Transition.BLOCK): BLACK,
    (BLACK, Transition.UNBLOCK): NONE,
    (ASKED, Transition.FOLLOW): FOLLOW,
    (ASKED, Transition.MAKE_QUIET): WHISPER,
    (ASKED, Transition.MAKE_OPEN): FOLLOW,
    (ASKED, Transition.UNFOLLOW): NONE,
    (ASKED, Transition.BLOCK): BLACK,
    (ASKED, Transition.UNBLOCK): ASKED,
    (ASKED_QUIETLY, Transition.FOLLOW): WHISPER,
    (ASKED_QUIETLY, Transition.MAKE_QUIET): WHISPER,
    (ASKED_QUIETLY, Transition.MAKE_OPEN): FOLLOW,
    (ASKED_QUIETLY, Transition.UNFOLLOW): NONE,
    (ASKED_QUIETLY, Transition.BLOCK): BLACK,
    (ASKED_QUIETLY, Transition.UNBLOCK): ASKED_QUIETLY,
    **{(state, Transition.APPROVE): state for state in (NONE, FOLLOW, WHISPER, BLACK)},
    **{(state, Transition.REJECT): state for state in (NONE, FOLLOW, WHISPER, BLACK)},
    (ASKED, Transition.APPROVE): FOLLOW,
    (ASKED, Transition.REJECT): NONE,
    (ASKED_QUIETLY, Transition.APPROVE): WHISPER,
    (ASKED_QUIETLY, Transition.REJECT): NONE,
}


def edge_in(state: Attribute, flags: EdgeFlag = EdgeFlag.NOTHING) -> Edge:
    revision = BLOCK_STEP if state is BLACK else 7
    return Edge(state, revision, THEN, flags if state in LIVE else EdgeFlag.NOTHING)


def test_table_names_every_transition_in_every_state():
    assert EXPECTED.keys() == set(itertools.product(STATES, Transition))
    assert {(s, t): NEXT[s][t] for s in STATES for t in Transition} == EXPECTED


@pytest.mark.parametrize(("state", "transition"), list(EXPECTED))
def test_a_follow_that_needs_approval_is_a_request(state, transition):
    """Approval and rejection are never asked with it: the followee gives them."""
    expected = EXPECTED[state, transition]
    if expected is REFUSED or transition in (Transition.APPROVE, Transition.REJECT):
        return
    if state not in FOLLOWS:
        expected = {FOLLOW: ASKED, WHISPER: ASKED_QUIETLY}.get(expected, expected)
    after = step(edge_in(state, ALL_FLAGS), transition, NOW, needs_approval=True)
    assert after.attribute is expected
    if {state, expected} <= REQUESTS:
        assert (after.since_ms, after.flags) == (THEN, ALL_FLAGS)


@pytest.mark.parametrize("flags", [EdgeFlag.NOTHING, ALL_FLAGS])
@pytest.mark.parametrize(("state", "transition"), list(EXPECTED))
def test_one_transition(state, transition, flags):
    before, expected = edge_in(state, flags), EXPECTED[state, transition]
    if expected is REFUSED:
        with pytest.raises(CannotFollowBlocked):
            step(before, transition, NOW)
        return
    after = step(before, transition, NOW)
    assert after.attribute is expected
    if expected is state:
        assert after is before
        return
    assert after.revision > before.revision
    stays = {state, expected} <= FOLLOWS
    assert after.flags == (before.flags if expected in FOLLOWS else EdgeFlag.NOTHING)
    assert after.since_ms == (THEN if stays or expected is NONE else NOW)


@pytest.mark.parametrize("first", Transition)
def test_transitions_in_every_order(first):
    """Four from nothing, each at a later time: state, date and revision follow the table."""
    for rest in itertools.product(Transition, repeat=3):
        edge, turned_ms = NO_EDGE, EPOCH_MS
        for now_ms, transition in enumerate((first, *rest), start=EPOCH_MS + 1):
            expected = EXPECTED[edge.attribute, transition]
            if expected is REFUSED:
                with pytest.raises(CannotFollowBlocked):
                    step(edge, transition, now_ms)
                continue
            after = step(edge, transition, now_ms)
            if (expected is BLACK) != (edge.attribute is BLACK):
                turned_ms = now_ms
            assert_is_next(edge, after, expected, now_ms)
            assert EPOCH_MS + last_block_turn(after) == turned_ms
            edge = after


def assert_is_next(edge, after, expected, now_ms):
    if expected is edge.attribute:
        assert after is edge
        return
    begins = not {edge.attribute, expected} <= FOLLOWS and expected is not NONE
    assert after.attribute is expected
    assert after.since_ms == (now_ms if begins else edge.since_ms)
    assert after.revision > edge.revision


def test_revision_grows_by_one_and_with_a_block_or_its_end_by_the_clock():
    """The layout that relations/states.py documents."""
    edge, revisions = NO_EDGE, []
    for after_ms, transition in enumerate(
        (
            Transition.FOLLOW,
            Transition.MAKE_QUIET,
            Transition.BLOCK,
            Transition.UNBLOCK,
            Transition.FOLLOW,
            Transition.BLOCK,
        ),
        start=70,
    ):
        edge = step(edge, transition, EPOCH_MS + after_ms)
        revisions.append(divmod(edge.revision, 1 << 22))
    assert revisions == [(0, 1), (0, 2), (72, 0), (73, 0), (73, 1), (75, 0)]


OPTIONS = {
    "special": (EdgeFlag.SPECIAL, True),
    "reposts": (EdgeFlag.HIDES_REPOSTS, False),
    "notify": (EdgeFlag.NOTIFIES, True),
    "endorsed": (EdgeFlag.ENDORSED, True),
}


@pytest.mark.parametrize("state", [NONE, FOLLOW, WHISPER])
@pytest.mark.parametrize("given", OPTIONS)
def test_giving_one_changes_only_that_one(state, given):
    flag, sets = OPTIONS[given]
    for before in (edge_in(state), edge_in(state, ALL_FLAGS)):
        on = step(before, Transition.FOLLOW, NOW, FollowOptions(**{given: sets}))
        off = step(on, Transition.FOLLOW, NOW, FollowOptions(**{given: not sets}))
        assert on.flags == before.flags | flag
        assert off.flags == before.flags & ~flag
        assert off.revision == on.revision + 1
        assert off.attribute is (FOLLOW if state is NONE else state)
        assert step(on, Transition.FOLLOW, NOW, FollowOptions(**{given: sets})) is on
        assert step(off, Transition.FOLLOW, NOW, NO_OPTIONS) is off


@pytest.mark.parametrize("state", list(FOLLOWS))
@pytest.mark.parametrize("quiet", [True, False])
def test_giving_quiet_keeps_flags_and_date(state, quiet):
    options = FollowOptions(quiet=quiet)
    after = step(edge_in(state, ALL_FLAGS), transition_of(options), NOW, options)
    assert (after.attribute is WHISPER) is quiet
    assert (after.flags, after.since_ms) == (ALL_FLAGS, THEN)


def test_all_given_at_once_is_one_change():
    options = FollowOptions(True, special=True, reposts=False, notify=True, endorsed=True)
    assert step(NO_EDGE, transition_of(options), NOW, options) == Edge(WHISPER, 1, NOW, ALL_FLAGS)


def test_change_of_a_flag_alone_is_a_revision_and_keeps_the_date():
    after = step(edge_in(FOLLOW), Transition.FOLLOW, NOW, FollowOptions(special=True))
    assert after == Edge(FOLLOW, 8, THEN, EdgeFlag.SPECIAL)


@pytest.mark.parametrize("ends", [(Transition.UNFOLLOW,), (Transition.BLOCK, Transition.UNBLOCK)])
def test_flags_go_with_the_follow_and_do_not_come_back(ends):
    edge = edge_in(WHISPER, ALL_FLAGS)
    for transition in (*ends, Transition.FOLLOW):
        edge = step(edge, transition, NOW)
    assert edge.attribute is FOLLOW
    assert (edge.flags, edge.since_ms) == (EdgeFlag.NOTHING, NOW)


@pytest.mark.parametrize(
    ("options", "transition"),
    [
        (NO_OPTIONS, Transition.FOLLOW),
        (FollowOptions(special=True), Transition.FOLLOW),
        (FollowOptions(quiet=True), Transition.MAKE_QUIET),
        (FollowOptions(quiet=False), Transition.MAKE_OPEN),
    ],
)
def test_options_are_a_transition(options, transition):
    assert transition_of(options) is transition


@pytest.mark.parametrize(("state", "opposite"), list(itertools.product(STATES, repeat=2)))
def test_only_a_follow_or_request_is_hidden_and_only_by_a_block(state, opposite):
    edge = edge_in(state, ALL_FLAGS)
    seen = as_seen_by_followee(edge, edge_in(opposite))
    if opposite is BLACK and state in LIVE:
        assert seen == Edge(NONE, edge.revision, THEN)
    else:
        assert seen is edge


ACTS = {"block": Transition.BLOCK, "unblock": Transition.UNBLOCK, "follow": Transition.FOLLOW}


@pytest.mark.parametrize("clock", ["runs", "stopped"])
def test_block_ends_the_follows_that_began_before_its_end_however_late_it_is_mirrored(clock):
    """An edge's turns, a follow in the opposite direction in between, and two moments of mirroring.

    With a stopped clock, a turn still is later than the one before.
    """
    for acts in itertools.product(ACTS, repeat=4):
        edges = [NO_EDGE]
        for n, act in enumerate(acts, start=1):
            if act == "follow" and edges[-1].attribute is BLACK:
                edges.append(edges[-1])
            else:
                now_ms = EPOCH_MS + (10 * n if clock == "runs" else 1)
                edges.append(step(edges[-1], ACTS[act], now_ms))
        for known, mirrored in itertools.combinations_with_replacement(range(5), 2):
            old, new = edges[known], edges[mirrored]
            are_blocks = {edge.attribute is BLACK for edge in edges[known : mirrored + 1]}
            if len(are_blocks) == 1:  # no turn was missed
                assert not ends_follow(Edge(FOLLOW, 1, 0), old, new)
                continue
            end = EPOCH_MS + last_block_turn(new)
            assert ends_follow(Edge(FOLLOW, 1, end - 1), old, new)
            assert ends_follow(Edge(ASKED, 1, end - 1), old, new)
            assert ends_follow(Edge(FOLLOW, 1, end), old, new) is (new.attribute is BLACK)
            assert not ends_follow(Edge(NONE, 1, end - 1), old, new)


def test_clock_that_was_set_back_hides_no_block():
    edge = step(NO_EDGE, Transition.BLOCK, EPOCH_MS + 1_000)
    ended = step(edge, Transition.UNBLOCK, EPOCH_MS + 10)
    again = step(ended, Transition.BLOCK, 0)
    turns = [last_block_turn(one) for one in (edge, ended, again)]
    assert turns == [1_000, 1_001, 1_002]
