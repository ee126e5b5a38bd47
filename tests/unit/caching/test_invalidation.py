"""What was asked for before a key was dropped is not news, however many keys were dropped since."""

from infra.caching.invalidation import MOST_REMEMBERED, InvalidationTimes


def test_what_was_asked_for_after_a_drop_is_news():
    dropped = InvalidationTimes()
    dropped.add(["a"], 5.0)
    assert [dropped.may_store("a", at) for at in (4.0, 5.0, 6.0)] == [False, False, True]
    assert dropped.may_store("b", 4.0)


def test_everything_dropped_at_once():
    dropped = InvalidationTimes()
    dropped.add_all(5.0)
    assert [dropped.may_store("a", at) for at in (4.0, 5.0, 6.0)] == [False, False, True]


def test_overflow_forgets_no_drop():
    dropped = InvalidationTimes()
    dropped.add(["a"], 1.0)
    for number in range(MOST_REMEMBERED):
        dropped.add([number], 2.0)
    assert not dropped.may_store("a", 1.0)
    assert not dropped.may_store("a", 2.0)
    assert dropped.may_store("a", 3.0)
    assert len(dropped._at) <= MOST_REMEMBERED
