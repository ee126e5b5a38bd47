"""What the first read of a process costs in round trips, when Redis has all that it needs."""

import pytest

from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller
from tests.herd import forget_copies
from tests.world import drain_all, make_accounts, publish

ACCOUNT, STATUS = "/api/v1/accounts/{author}", "/api/v1/statuses/{post}"
TRIPS = {
    "/api/v1/timelines/home": 2,
    f"{ACCOUNT}/statuses": 2,
    f"{ACCOUNT}/followers": 2,
    STATUS: 1,
    "/api/v1/accounts/relationships?id={author}": 1,
}


@pytest.mark.parametrize("path", TRIPS)
def test_round_trips_of_a_process_that_knows_nothing(world: None, path: str) -> None:
    me, author, *others = make_accounts(8)
    follow(me, author)
    for other in others:
        follow(me, other)
        follow(other, author)
    post, *_ = [publish(author) for _ in range(3)]
    drain_all()
    caller, address = Caller(me), path.format(author=author, post=post.public)
    for _ in range(2):
        assert caller.get(address).status_code == 200
    forget_copies()
    with count_calls() as calls:
        assert caller.get(address).status_code == 200
    assert (calls.round_trips, calls.statements) == (TRIPS[path], [])
