"""Replay: delivered changes again, chosen by time, kind and owner; for real or dry."""

from datetime import UTC, datetime, timedelta, timezone
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from infra.changes.replay import ReplayFilter, iter_delivered
from infra.changes.verbs.delivering import ReplayChanges
from infra.sharding.sql import execute
from tests.integration.changes.kinds import ALIAS, BulkNoted, delivered, emit, note, pending
from tests.world import drain_all

NOON = datetime(2031, 3, 2, 12, tzinfo=UTC)
MOVE = """
UPDATE changes_delivered SET delivered_at = %s, delivered_on = (%s AT TIME ZONE 'UTC')::date
WHERE id = %s
"""


def delivered_at(*moments, alias=ALIAS, **options):
    """A change delivered at each of these moments."""
    versions = note(len(moments), alias=alias, **options)
    drain_all()
    for version, moment in zip(versions, moments, strict=True):
        execute(alias, MOVE, (moment, moment, version))
    return versions


def hours(count):
    return NOON + timedelta(hours=count)


def replay(journal, *words, **options):
    journal.clear()
    out, error = StringIO(), StringIO()
    code = 0
    try:
        call_command(ReplayChanges(), *words, stdout=out, stderr=error, **options)
    except SystemExit as exit_:
        code = exit_.code
    return journal.versions, code, out.getvalue(), error.getvalue()


def test_changes_of_a_span_of_time(journal):
    early, first, last, late = delivered_at(hours(-1), NOON, hours(1), hours(2))
    versions, code, out, _ = replay(journal, since=NOON, until=hours(2))
    assert versions == [first, last]
    assert (code, out) == (0, "2 changes done, 0 failed\n")
    assert delivered() == sorted([early, first, last, late])
    assert pending() == []


def test_end_is_now_unless_said(journal):
    delivered_at(NOON)
    now = note()
    drain_all()
    versions, *_ = replay(journal, since=datetime.now(UTC) - timedelta(hours=1))
    assert versions == now


@pytest.mark.parametrize("offset", [-11, 0, 14])
def test_day_begins_where_utc_says(journal, offset):
    """A time east of UTC may be a day ahead of the partition its changes are in."""
    since = datetime(2031, 3, 2, 3, tzinfo=timezone(timedelta(hours=offset)))
    _, exact, later = delivered_at(since - timedelta(seconds=1), since, since + timedelta(hours=5))
    versions, *_ = replay(journal, since=since, until=since + timedelta(hours=6))
    assert versions == [exact, later]


def test_changes_of_one_owner_and_kind(journal):
    mine = delivered_at(NOON, owner_id=2)
    delivered_at(NOON, owner_id=4)
    [bulk] = emit(BulkNoted(), owner_id=2)
    drain_all()
    execute(ALIAS, MOVE, (NOON, NOON, bulk))
    span = {"since": NOON, "until": hours(1)}
    assert replay(journal, **span, owner=2)[0] == [*mine, bulk]
    assert replay(journal, **span, kind="tests.bulk_noted")[0] == [bulk]
    assert replay(journal, **span, owner=2, kind="tests.noted")[0] == mine


def test_one_database_or_all(journal):
    here = delivered_at(NOON)
    there = delivered_at(NOON, alias="shard1")
    span = {"since": NOON, "until": hours(1)}
    assert replay(journal, **span, shard="shard1")[0] == there
    assert replay(journal, **span)[0] == [*here, *there]


def test_pages_cross_days_and_keep_their_order(journal, monkeypatch):
    monkeypatch.setattr("infra.changes.replay.CHANGE_BATCH_SIZE", 2)
    moments = [hours(hour) for hour in (30, 0, 54, 1, 31, 2, 55)]
    versions = delivered_at(*moments)
    by_day = sorted(zip(moments, versions, strict=True), key=lambda at: (at[0].date(), at[1]))
    chosen = ReplayFilter(NOON, hours(100))
    pages = [[row.id for row in page.rows] for page in iter_delivered(ALIAS, chosen, 2)]
    assert [version for page in pages for version in page] == [version for _, version in by_day]
    assert [len(page) for page in pages] == [2, 2, 2, 1]
    assert replay(journal, since=NOON, until=hours(100))[0] == [v for _, v in by_day]


def test_run_that_was_cut_short_goes_on(journal, monkeypatch):
    """Over the end of a day, and of a database."""
    monkeypatch.setattr("infra.changes.replay.CHANGE_BATCH_SIZE", 2)
    versions = delivered_at(NOON, hours(1), hours(20), hours(30), hours(31))
    versions += delivered_at(NOON, hours(30), alias="shard1")
    span = {"since": NOON, "until": hours(100)}
    replayed = [replay(journal, **span, limit=limit, resume=True)[0] for limit in (3, 1, 2, 9)]
    assert replayed == [versions[:3], versions[3:4], versions[4:6], versions[6:]]
    assert replay(journal, **span)[0] == versions


def test_dry_run_counts_and_delivers_nothing(journal):
    delivered_at(NOON, hours(1))
    versions, code, out, _ = replay(journal, since=NOON, until=hours(2), dry_run=True)
    assert (versions, code, out) == ([], 0, "2 changes looked at, 0 failed\n")


def test_change_that_fails_is_named_and_the_others_are_delivered(journal):
    bad, good = delivered_at(NOON, NOON)
    journal.clear()
    out, error = StringIO(), StringIO()
    journal.fail_for(bad)
    with pytest.raises(SystemExit) as exit_:
        call_command(ReplayChanges(), since=NOON, until=hours(1), stdout=out, stderr=error)
    assert exit_.value.code == 1
    assert journal.versions == [good]
    assert out.getvalue() == f"shard0 #{bad}: no such number\n1 changes done, 1 failed\n"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2031-03-02T12:00", NOON),
        ("2031-03-02T21:00+09:00", NOON),
        ("2031-03-02", datetime(2031, 3, 2, tzinfo=UTC)),
    ],
)
def test_times_without_an_offset_are_utc(journal, text, moment):
    [version] = delivered_at(moment)
    until = str(moment + timedelta(seconds=1))
    versions, *_ = replay(journal, "--since", text, "--until", until)
    assert versions == [version]


def test_time_that_is_none_is_refused(journal):
    with pytest.raises(CommandError, match="not an ISO 8601 time"):
        call_command("changes", "replay", "--since", "yesterday")
