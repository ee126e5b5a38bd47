"""Home pages, end to end below HTTP."""

import pytest
from infra.api.pages import Window
from relations.actions.follow import follow, unfollow
from tests.world import make_accounts, publish
from timelines.queries.home import home_page
import orjson


def ids(viewer, **w):
    return [orjson.loads(b)["id"] for b in home_page(viewer, Window(w.pop("limit", 20), **w)).items]


def test_first(world, drain):
    a, b, c = make_accounts(3)
    assert follow(a, b)
    p1 = publish(b)
    p0 = publish(a)
    assert ids(a) == [x.public for x in sorted([p1, p0], reverse=True)]
    drain()
    p2 = publish(b)
    drain()
    assert ids(a) == [x.public for x in sorted([p1, p0, p2], reverse=True)]
    p3 = publish(c)
    follow(a, c)
    assert p3.public in ids(a)
    drain()
    assert len(ids(a)) == 4
    unfollow(a, b)
    assert len(ids(a)) == 2
    drain()
    assert len(ids(a)) == 2
