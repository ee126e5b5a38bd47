"""Daily partitions of delivered changes: made ahead, dropped when expired, at any moment."""

import threading
from datetime import date, timedelta
from functools import partial

import pytest
from django.db import OperationalError, connections, transaction

from infra.changes.compensate import drain
from infra.changes.periodic import PARTITIONS, maintain_partitions
from infra.sharding.sql import execute, fetch_all, fetch_one
from tests.integration.changes.kinds import ALIAS, LANE, delivered, note
from tests.races import failures, run_together
from tests.waiting import PATIENCE_S

DAY = date(2031, 3, 1)
BY_PARTITION = "SELECT tableoid::regclass::text, id FROM changes_delivered ORDER BY 2"
INSERT = """
INSERT INTO changes_delivered
    (delivered_on, id, lane, kind, owner_id, payload, created_at, delivered_at)
VALUES (%s, %s, 0, 'tests.noted', 2, '{}', now(), now())
"""


@pytest.fixture(autouse=True)
def only_the_default_partition(journal):
    drop_all()
    yield
    drop_all()


def drop_all():
    for name in partitions():
        execute(ALIAS, f"DROP TABLE {name}")


def partitions():
    return sorted(PARTITIONS.names(ALIAS))


def named(*days):
    return [f"changes_delivered_{day:%Y%m%d}" for day in days]


def after(days):
    return DAY + timedelta(days=days)


def test_today_and_the_coming_days_have_one_each():
    assert maintain_partitions(ALIAS, DAY) == []
    assert partitions() == named(DAY, after(1), after(2))
    maintain_partitions(ALIAS, after(1))
    assert partitions() == named(DAY, after(1), after(2), after(3))


def test_drain_files_into_the_partition_of_the_day():
    today = fetch_one(ALIAS, "SELECT (now() AT TIME ZONE 'UTC')::date")[0]
    [before] = note()
    drain(ALIAS, LANE)
    execute(ALIAS, "DELETE FROM changes_delivered")
    maintain_partitions(ALIAS, today)
    [version] = note()
    drain(ALIAS, LANE)
    assert fetch_all(ALIAS, BY_PARTITION) == [(*named(today), version)]
    assert version > before


def test_partitions_are_dropped_after_the_replay_window(settings):
    settings.CHANGE_REPLAY_DAYS = 7
    maintain_partitions(ALIAS, DAY)
    execute(ALIAS, INSERT, (DAY, 1))
    assert maintain_partitions(ALIAS, after(7)) == []
    assert delivered() == [1]
    assert maintain_partitions(ALIAS, after(8)) == named(DAY)
    assert delivered() == []
    assert partitions()[0] == named(after(1))[0]


def test_job_that_slept_finds_rows_in_the_default_partition(settings):
    """Its own partition such a day gets no more; its rows stay, and go when they expire."""
    settings.CHANGE_REPLAY_DAYS = 7
    execute(ALIAS, INSERT, (DAY, 1))
    assert fetch_all(ALIAS, BY_PARTITION) == [("changes_delivered_default", 1)]
    maintain_partitions(ALIAS, DAY)
    assert partitions() == named(after(1), after(2))
    execute(ALIAS, INSERT, (DAY, 2))
    maintain_partitions(ALIAS, after(7))
    assert delivered() == [1, 2]
    maintain_partitions(ALIAS, after(8))
    assert delivered() == []


def test_many_may_run_at_once():
    assert failures(run_together([partial(maintain_partitions, ALIAS, DAY)] * 6)) == []
    assert partitions() == named(DAY, after(1), after(2))
    assert failures(run_together([partial(maintain_partitions, ALIAS, after(30))] * 6)) == []
    assert partitions() == named(after(30), after(31), after(32))


def test_row_that_arrives_while_the_partition_is_made_is_no_error():
    """It is filed before the check for such rows, or waits and goes into the new partition."""
    has_filed, may_commit = (threading.Barrier(2, timeout=PATIENCE_S) for _ in range(2))

    def file_slowly():
        with transaction.atomic(using=ALIAS):
            execute(ALIAS, INSERT, (DAY, 1))
            has_filed.wait()
            may_commit.wait()

    def keep():
        has_filed.wait()
        threading.Timer(0.2, may_commit.wait).start()
        return maintain_partitions(ALIAS, DAY)

    assert run_together([file_slowly, keep]) == [None, []]
    assert delivered() == [1]
    assert partitions() == named(after(1), after(2))


def test_table_that_is_busy_is_left_for_the_next_time():
    """A lock that waits keeps all who come after it waiting: the drain would stand still."""
    has_locked, may_go = threading.Event(), threading.Event()

    def read_for_long():
        with transaction.atomic(using=ALIAS):
            fetch_all(ALIAS, "SELECT count(*) FROM changes_delivered")
            has_locked.set()
            may_go.wait(PATIENCE_S)
        connections.close_all()

    reader = threading.Thread(target=read_for_long)
    reader.start()
    try:
        assert has_locked.wait(PATIENCE_S)
        with pytest.raises(OperationalError, match="lock timeout"):
            maintain_partitions(ALIAS, DAY)
    finally:
        may_go.set()
        reader.join()
    maintain_partitions(ALIAS, DAY)
    assert partitions() == named(DAY, after(1), after(2))
