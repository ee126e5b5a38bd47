"""The scenario reports every error that a reader would see."""

from types import SimpleNamespace

import pytest

from tests.oracle import Oracle
from tests.scenarios.readers import differences


@pytest.fixture
def oracle() -> Oracle:
    oracle = Oracle()
    oracle.follow(1, 2, since_ms=1)
    oracle.follow(3, 1, since_ms=1)
    for post in ("a", "b", "c"):
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
        ({"home": ["c", "a"]}, "home of 1: 2 instead of 3; missing ['b']"),
        ({"home": ["c", "b", "b", "a"]}, "1 twice"),
        ({"home": ["d", "c", "b", "a"]}, "not due ['d']"),
        ({"home": ["b", "c", "a"]}, "in another order"),
        ({"following": []}, "following of 1"),
        ({"followers": [2, 3]}, "followers of 1"),
        ({"posts": ["x"]}, "posts of 1"),
        ({"counts": (1, 1, 1)}, "counts of 1"),
    ],
)
def test_every_kind_of_fault_is_reported(oracle, answers, said):
    (fault,) = differences(reader(oracle, **answers), oracle)
    assert said in fault
