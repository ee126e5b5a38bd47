"""The oracle itself, against worked examples: everything else is compared with it.

The scenario reports every error that a reader would see.
"""

from types import SimpleNamespace

import pytest

from posts.ids import PostId
from tests.oracle import Oracle
from tests.scenarios.readers import differences


def test_a_home_has_ones_own_posts_and_those_of_followees_newest_first():
    oracle = Oracle()
    oracle.follow(1, 2, since_ms=10)
    oracle.publish(1, "10")
    oracle.publish(2, "11")
    oracle.publish(3, "12")
    oracle.publish(2, "9")
    assert oracle.home(1) == ["11", "10", "9"]
    assert oracle.home(2) == ["11", "9"]
    oracle.delete(2, "11")
    assert oracle.home(1) == ["10", "9"]
    oracle.unfollow(1, 2)
    assert oracle.home(1) == ["10"]
    assert oracle.posts(2) == ["9"]


def test_what_is_hidden_or_of_the_suspended_is_not_at_home_until_it_is_again():
    oracle = Oracle()
    oracle.follow(1, 2, since_ms=10)
    theirs, others, repost = (PostId(n, who, 0).public for n, who in ((1, 2), (2, 3), (3, 2)))
    oracle.publish(2, theirs)
    oracle.publish(3, others)
    oracle.repost(2, repost, others)
    assert oracle.home(1) == [repost, theirs]
    oracle.suspend(3, True)
    assert oracle.home(1) == [theirs]
    oracle.suspend(3, False)
    oracle.hide(others, True)
    assert oracle.home(1) == [theirs]
    oracle.hide(others, False)
    oracle.hide(repost, True)
    assert oracle.home(1) == [theirs]
    oracle.hide(repost, False)
    oracle.suspend(2, True)
    assert oracle.home(1) == []
    oracle.suspend(2, False)
    assert oracle.home(1) == [repost, theirs]


def test_lists_are_newest_first_and_ties_by_the_higher_id():
    oracle = Oracle()
    for followee, since_ms in [(5, 10), (3, 20), (4, 10)]:
        oracle.follow(1, followee, since_ms)
    assert oracle.following(1) == [3, 5, 4]
    oracle.follow(1, 5, since_ms=99)
    assert oracle.following(1) == [3, 5, 4]
    oracle.follow(2, 5, since_ms=10)
    assert oracle.followers(5) == [2, 1]
    assert oracle.counts(5) == (2, 0, 0)
    oracle.unfollow(1, 5)
    oracle.unfollow(1, 5)
    assert oracle.counts(5) == (1, 0, 0)
    assert oracle.counts(1) == (0, 2, 0)


@pytest.fixture
def oracle() -> Oracle:
    oracle = Oracle()
    oracle.follow(1, 2, since_ms=1)
    oracle.follow(3, 1, since_ms=1)
    for post in ("1", "2", "3"):
        oracle.publish(2, post)
    return oracle


def reader(oracle: Oracle, **answers: object) -> SimpleNamespace:
    """Account 1, shown what is right but for these answers."""
    lists = ("home", "posts", "following", "followers", "counts")
    right = {name: getattr(oracle, name)(1) for name in lists}
    asked = {name: lambda answer=answer: answer for name, answer in (right | answers).items()}
    return SimpleNamespace(account_id=1, **asked)


def test_nothing_is_said_when_all_is_right(oracle):
    assert differences(reader(oracle), oracle) == []


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"home": ["3", "1"]}, "home of 1: 2 instead of 3; missing ['2']"),
        ({"home": ["3", "2", "2", "1"]}, "1 twice"),
        ({"home": ["4", "3", "2", "1"]}, "not due ['4']"),
        ({"home": ["2", "3", "1"]}, "in another order"),
        ({"following": []}, "following of 1"),
        ({"followers": [2, 3]}, "followers of 1"),
        ({"posts": ["5"]}, "posts of 1"),
        ({"counts": (1, 1, 1)}, "counts of 1"),
    ],
)
def test_every_kind_of_fault_is_reported(oracle, answers, said):
    (fault,) = differences(reader(oracle, **answers), oracle)
    assert said in fault
