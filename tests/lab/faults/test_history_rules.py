"""Each rule has a small history that it accepts, and one that it refuses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from lab.faults.history.calls import ClientCall, Kind, Seen
from lab.faults.history.checker import check_history
from lab.faults.history.promises import Promises, Span, StartingWorld

ANN, BEN, CAT = 1, 2, 3
FAULT = Span(10.0, 20.0)
PROMISES = Promises(visible_s=1.0, recover_s=5.0, faults=(FAULT,))
# Ann follows Ben before the first call.
WORLD = StartingWorld(follows=frozenset({(ANN, BEN)}))


def entry(second: int, account: int, sequence: int = 0) -> int:
    return second * 36**8 + account * 36**2 + sequence


P1, P2, P3 = entry(1, BEN), entry(2, BEN), entry(3, BEN)
S1, S2, S3 = (Seen(one, one, BEN) for one in (P1, P2, P3))
OWN = entry(2, ANN)
SHOWN_OWN = Seen(OWN, OWN, ANN)
R2 = entry(4, CAT)
SHOWN_REPOST = Seen(R2, P1, BEN, CAT)


def call(at_s: float, account: int, kind: Kind, **fields: Any) -> ClientCall:
    """A call of 0.1 s. Its client has the number of its account, if no other is given."""
    given = {"client": account, "outcome": "ok", "status": 200, "ended_s": at_s + 0.1} | fields
    return ClientCall(account=account, kind=kind, began_s=at_s, **given)


def post(at_s: float, made: int | None, account: int = BEN, **fields: Any) -> ClientCall:
    return call(at_s, account, "post", made=made, **fields)


def home(at_s: float, *seen: Seen, **fields: Any) -> ClientCall:
    return call(at_s, ANN, "home", seen=seen, is_last=True, **fields)


def poll(at_s: float, *seen: Seen, **fields: Any) -> ClientCall:
    return call(at_s, ANN, "poll", seen=seen, min_id=0, is_last=True, **fields)


def lost(one: ClientCall) -> ClientCall:
    """The call, without an answer."""
    return replace(one, outcome="unknown", status=0, seen=())


def rules(*calls: ClientCall) -> set[str]:
    return {violation.rule for violation in check_history(calls, PROMISES, WORLD)}


WRITES = (post(1, P1), post(2, P2), post(3, P3))
UNREPOST = call(5, CAT, "unrepost", target=P1)
REPOST = (call(0.2, ANN, "follow", target=CAT), call(4, CAT, "repost", target=P1, made=R2))
CASES: dict[str, tuple[Sequence[ClientCall], Sequence[ClientCall]]] = {
    "order": (
        (*WRITES, home(5, S3, S2, S1)),
        (*WRITES, home(5, S3, S1, S2)),
    ),
    "order of a post": (
        (WRITES[0], *REPOST, home(6, SHOWN_REPOST)),
        (WRITES[0], *REPOST, home(6, SHOWN_REPOST, S1)),
    ),
    "order of pages": (
        (*WRITES, call(5, ANN, "home", seen=(S3, S2)), home(6, S1, max_id=P2)),
        (*WRITES, call(5, ANN, "home", seen=(S3, S2)), home(6, S2, S1, max_id=P2)),
    ),
    "invented": (
        (lost(post(1, None)), home(5, S1)),
        (post(1, P1), home(5, S2, S1)),
    ),
    "invented twice": (
        (lost(post(1, None)), lost(post(1.5, None)), home(5, S2, S1)),
        (lost(post(1, None)), home(5, S2, S1)),
    ),
    "invented before": (
        (lost(post(1, None)), home(1.05, S1)),
        (home(1, S1), lost(post(2, None))),
    ),
    "gone": (
        (*WRITES, call(5, BEN, "delete", target=P2), home(6, S3, S1)),
        (*WRITES, call(5, BEN, "delete", target=P2), home(6, S3, S2, S1)),
    ),
    "gone repost": (
        (WRITES[0], *REPOST, call(5, CAT, "unrepost", target=P1), home(7, S1)),
        (WRITES[0], *REPOST, call(5, CAT, "unrepost", target=P1), home(7, SHOWN_REPOST)),
    ),
    "gone original": (
        (WRITES[0], *REPOST, call(5, BEN, "delete", target=P1), home(7)),
        (WRITES[0], *REPOST, call(5, BEN, "delete", target=P1), home(7, SHOWN_REPOST)),
    ),
    "unfollowed": (
        (*WRITES, call(5, ANN, "unfollow", target=BEN), home(6)),
        (*WRITES, call(5, ANN, "unfollow", target=BEN), home(6, S3, S2, S1)),
    ),
    "unfollowed, by an unknown follow": (
        (
            *WRITES,
            call(4, ANN, "unfollow", target=BEN),
            lost(call(5, ANN, "follow", target=BEN)),
            home(90, S3, S2, S1),
        ),
        (
            *WRITES,
            lost(call(4, ANN, "follow", target=CAT)),
            call(5, ANN, "unfollow", target=BEN),
            home(90, S3, S2, S1),
        ),
    ),
    "muted": (
        (
            *WRITES,
            call(4, ANN, "mute", target=BEN),
            call(5, ANN, "unmute", target=BEN),
            home(6, S3, S2, S1),
        ),
        (*WRITES, call(5, ANN, "mute", target=BEN), home(6, S3, S2, S1)),
    ),
    "blocked": (
        (WRITES[0], *REPOST, call(5, ANN, "block", target=BEN), home(7)),
        (WRITES[0], *REPOST, call(5, ANN, "block", target=BEN), home(7, SHOWN_REPOST)),
    ),
    "blocked by the author": (
        (WRITES[0], *REPOST, call(5, BEN, "block", target=ANN), home(5.5, SHOWN_REPOST)),
        (WRITES[0], *REPOST, call(5, BEN, "block", target=ANN), home(7, SHOWN_REPOST)),
    ),
    "own write": (
        (post(2, OWN, ANN), home(2.2, SHOWN_OWN)),
        (post(2, OWN, ANN), home(2.2)),
    ),
    "backwards": (
        (*WRITES, home(3.2, S3, S2, S1), home(3.4, S3, S2, S1)),
        (*WRITES, home(3.2, S3, S2, S1), home(3.4, S2, S1)),
    ),
    "hole": (
        (*WRITES, home(3.5, S2, S1)),
        (WRITES[0], post(2.8, P2), WRITES[2], home(3.15, S3, S1)),
    ),
    "missing": (
        (*WRITES, home(3.5, S2, S1)),
        (*WRITES, home(4.5, S2, S1)),
    ),
    "missing after a fault": (
        (post(12, P1), home(24)),
        (post(12, P1), home(26)),
    ),
    "missing at its newest place": (
        (WRITES[0], *REPOST, home(4.5, S1)),
        (WRITES[0], *REPOST, home(6, S1)),
    ),
    "missing after a follow": (
        (
            call(0, ANN, "unfollow", target=BEN),
            *WRITES,
            call(5, ANN, "follow", target=BEN),
            home(6, S3, S2, S1),
        ),
        (
            call(0, ANN, "unfollow", target=BEN),
            *WRITES,
            call(5, ANN, "follow", target=BEN),
            home(6, S3, S2),
        ),
    ),
    "invented, with one key": (
        (lost(post(1, None, key="k")), post(2, P1, key="k"), home(4, S1)),
        (lost(post(1, None, key="k")), post(2, P1, key="k"), home(4, S2, S1)),
    ),
    "lost": (
        (home(0.5), *WRITES, poll(2.5, S1, S2), poll(5, S3), poll(9.5)),
        (home(0.5), *WRITES, poll(2.5, S2), poll(5, S3), poll(9.5)),
    ),
    "lost behind a repost": (
        (home(0.1), *REPOST, post(1, P1), poll(4.5, SHOWN_REPOST), UNREPOST, poll(9), poll(9.5)),
        (home(0.1), *REPOST, post(1, P1), poll(4.5), UNREPOST, poll(9), poll(9.5)),
    ),
    "lost after a failed poll": (
        (home(0.5), *WRITES, lost(poll(3.2)), home(3.5, S3, S2, S1), poll(9.5)),
        (home(0.5), *WRITES, lost(poll(0.8)), home(0.95), poll(9.5)),
    ),
    "relationship": (
        (call(5, ANN, "relationship", target=BEN, facts={"following": 1}),),
        (call(5, ANN, "relationship", target=BEN, facts={"following": 0}),),
    ),
    "relationship of others": (
        (
            call(4, BEN, "follow", target=ANN),
            call(4.5, ANN, "relationship", target=BEN, facts={"followed_by": 0}),
        ),
        (
            call(4, BEN, "follow", target=ANN),
            call(5.5, ANN, "relationship", target=BEN, facts={"followed_by": 0}),
        ),
    ),
    "contradiction": (
        (
            call(4, BEN, "block", target=ANN),
            call(4.2, ANN, "relationship", target=BEN, facts={"following": 1, "blocked_by": 0}),
        ),
        (
            call(4, BEN, "block", target=ANN),
            call(4.2, ANN, "relationship", target=BEN, facts={"following": 1, "blocked_by": 1}),
        ),
    ),
    "counts": (
        (*WRITES, call(5, BEN, "counts", facts={"posts": 3, "followers": 1, "following": 0})),
        (*WRITES, call(5, BEN, "counts", facts={"posts": 2})),
    ),
    "counts of others": (
        (*WRITES, call(3.3, ANN, "counts", target=BEN, facts={"posts": 2})),
        (*WRITES, call(3.3, ANN, "counts", target=BEN, facts={"posts": 4})),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_right_history_is_accepted(name: str) -> None:
    assert rules(*CASES[name][0]) == set()


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_history_is_refused(name: str) -> None:
    assert any(name.startswith(rule) for rule in rules(*CASES[name][1]))


def test_only_the_first_violations_are_listed() -> None:
    assert len(check_history([*WRITES, *(home(5 + i) for i in range(300))])) == 0
    assert len(check_history([home(5 + i, S1) for i in range(300)])) == 200
