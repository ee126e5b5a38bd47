"""The days of the index: created ahead; the mark is raised before any is dropped."""

import threading
from datetime import date, timedelta

import pytest
from django.conf import settings
from django.db import OperationalError, connections, transaction

from infra.sharding.sql import execute, fetch_all
from posts.ids import SEQUENCES, PostId
from tests.periodic import run_task
from tests.races import run_together
from timelines.recent.actions.index_posts import index_recent
from timelines.recent.days import PARTITIONS, drop_old_days, first_second
from timelines.recent.low_water_mark import find_low_water_mark, lower_low_water_mark
from timelines.types import Entry

ALIAS = "shard1"
DAY = date(2031, 3, 10)
WHERE = "SELECT tableoid::regclass::text, moment / %s FROM timelines_recentpost ORDER BY 2"


@pytest.fixture(autouse=True)
def only_the_default_partition(world):
    drop_all()
    yield
    drop_all()


def drop_all():
    for alias in settings.SHARD_ALIASES:
        for name in PARTITIONS.names(alias):
            execute(alias, f"DROP TABLE {name}")


def day(number):
    return DAY + timedelta(days=number)


def names(*numbers):
    return {f"timelines_recentpost_{day(n):%Y%m%d}" for n in numbers}


def post_on(number, alias=ALIAS):
    index_recent(alias, [Entry.of_post(PostId(first_second(day(number)) + 5, 7, 0))])


def kept():
    return [
        (name.removeprefix("timelines_recentpost_"), second)
        for name, second in fetch_all(ALIAS, WHERE, (SEQUENCES,))
    ]


def test_today_and_the_coming_days_have_one_each():
    drop_old_days(ALIAS, DAY)
    assert PARTITIONS.names(ALIAS) == names(0, 1, 2)
    drop_old_days(ALIAS, day(1))
    assert PARTITIONS.names(ALIAS) == names(0, 1, 2, 3)


def test_posts_go_to_their_day_and_others_to_the_default_one():
    drop_old_days(ALIAS, DAY)
    for number in (-1, 0, 1, 9):
        post_on(number)
    assert [name for name, _ in kept()] == ["default", "20310310", "20310311", "default"]


def test_a_day_more_than_is_read_is_kept_and_dropped_after_that():
    drop_old_days(ALIAS, DAY)
    post_on(-1)
    post_on(0)
    drop_old_days(ALIAS, day(settings.RECENT_DAYS + 1))
    assert [second for _, second in kept()] == [first_second(DAY) + 5]
    dropped = drop_old_days(ALIAS, day(settings.RECENT_DAYS + 2))
    assert set(dropped) == names(0)
    assert kept() == []


def test_mark_never_promises_a_day_that_is_dropped():
    lower_low_water_mark(ALIAS, 0)
    for number in range(12):
        drop_old_days(ALIAS, day(number))
        oldest = first_second(day(number - settings.RECENT_DAYS))
        assert find_low_water_mark(ALIAS) == oldest
        assert all(name >= min(names(number - settings.RECENT_DAYS - 1))
                   for name in PARTITIONS.names(ALIAS))  # fmt: skip


def test_mark_that_is_higher_stays_and_a_missing_one_is_not_made():
    drop_old_days(ALIAS, DAY)
    assert find_low_water_mark(ALIAS) is None
    lower_low_water_mark(ALIAS, first_second(day(0)))
    drop_old_days(ALIAS, DAY)
    assert find_low_water_mark(ALIAS) == first_second(day(0))


def test_mark_is_up_before_anything_is_dropped_even_if_killed_between(monkeypatch):
    drop_old_days(ALIAS, DAY)
    lower_low_water_mark(ALIAS, 0)
    post_on(0)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(PARTITIONS), "drop_before", killed)
    with pytest.raises(KeyboardInterrupt):
        drop_old_days(ALIAS, day(30))
    assert find_low_water_mark(ALIAS) == first_second(day(30 - settings.RECENT_DAYS))
    assert len(kept()) == 1


def test_day_with_strays_is_left_to_the_default_partition():
    post_on(1)
    drop_old_days(ALIAS, DAY)
    assert PARTITIONS.names(ALIAS) == names(0, 2)
    post_on(1)
    drop_old_days(ALIAS, day(settings.RECENT_DAYS + 3))
    assert kept() == []


def test_many_at_once_do_no_harm():
    drop_old_days(ALIAS, DAY)
    run_together([lambda: drop_old_days(ALIAS, day(20))] * 4)
    assert PARTITIONS.names(ALIAS) == names(20, 21, 22)


def test_busy_table_is_left_to_the_next_run():
    drop_old_days(ALIAS, DAY)
    seen = []
    with transaction.atomic(using=ALIAS):
        execute(ALIAS, "SELECT FROM timelines_recentpost")

        def try_to():
            try:
                drop_old_days(ALIAS, day(30))
            except OperationalError as error:
                seen.append(error)
            finally:
                connections.close_all()

        thread = threading.Thread(target=try_to)
        thread.start()
        thread.join()
    assert len(seen) == 1
    drop_old_days(ALIAS, day(30))
    assert PARTITIONS.names(ALIAS) == names(30, 31, 32)


def test_task_is_for_shards_and_one_that_is_down_delays_no_other(monkeypatch):
    monkeypatch.setitem(connections["shard0"].settings_dict, "HOST", "/nowhere")
    connections["shard0"].close()
    run_task("maintain_recent_days", ["default", *settings.SHARD_ALIASES])
    monkeypatch.undo()
    found = {alias: len(PARTITIONS.names(alias)) for alias in settings.SHARD_ALIASES}
    assert found == {"shard0": 0, "shard1": 3, "shard2": 3, "shard3": 3}
