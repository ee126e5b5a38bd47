"""Several posts by their ids in one request."""

from django.test import Client

from tests.callers import assert_refused, ids_of
from tests.integration.posts.interacting import STATUSES
from tests.world import publish


def test_visible_posts_are_answered_in_the_order_asked_each_once(people, me, you):
    mine = [publish(people[0], str(n)).public for n in range(3)]
    gone = publish(people[0], "gone").public
    me.delete(f"{STATUSES}/{gone}")
    wanted = [mine[2], "no-id", mine[0], gone, mine[2], mine[1]]
    assert ids_of(you.get(STATUSES, {"id[]": wanted})) == [mine[2], mine[0], mine[1]]
    assert ids_of(Client().get(STATUSES, {"id": mine[0]})) == [mine[0]]
    assert ids_of(Client().get(STATUSES)) == []
    me.post(f"/api/v1/accounts/{people[1]}/block")
    assert ids_of(you.get(STATUSES, {"id[]": wanted})) == []


def test_more_than_forty_are_refused(me):
    assert_refused(me.get(STATUSES, {"id[]": [str(10**15 + n) for n in range(41)]}), 422)
