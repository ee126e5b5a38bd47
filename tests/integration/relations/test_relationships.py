"""What lies between a viewer and others: both directions, in the order asked, in one query."""

from relations.actions.follow import follow, unfollow
from relations.queries.relationships import Relationship, load_relationships
from tests.budgets import count_calls
from tests.world import make_accounts


def test_both_directions_of_every_state(world, drain):
    me, followed, follower, mutual, left, stranger = make_accounts(6)
    follow(me, followed)
    follow(follower, me)
    follow(me, mutual)
    follow(mutual, me)
    follow(me, left)
    follow(left, me)
    unfollow(me, left)
    unfollow(left, me)
    drain()
    asked = [stranger, left, mutual, follower, followed, me]
    with count_calls() as calls:
        found = load_relationships(me, asked)
    assert found == [
        Relationship(stranger, False, False),
        Relationship(left, False, False),
        Relationship(mutual, True, True),
        Relationship(follower, False, True),
        Relationship(followed, True, False),
        Relationship(me, False, False),
    ]
    assert (calls.sql.total(), calls.round_trips) == (1, 0)


def test_nobody_asked_for_is_nobody_found(world):
    assert load_relationships(make_accounts(1)[0], []) == []
