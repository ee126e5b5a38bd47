"""A shard that came back without writes that it had acknowledged is noticed, until it is mended."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError

from infra.sharding import pulse
from infra.sharding.models import DatabaseIdentity, Pulse
from infra.sharding.pulse import end_loss, find_pulse, list_losses, take_pulse
from operations.verbs.shards import CLOCKS, ReconcileShard, _restored
from tests.integration.jobs.outcomes import Outcome
from tests.integration.sharding.test_shard_commands import run

SHARD = "shard1"
HOUR = timedelta(hours=1)


@pytest.fixture
def beaten(world):
    """The last pulse of the shard. The identity of a database outlives a test."""
    restore_to(None)
    take_pulse(SHARD)
    yield find_pulse(SHARD)
    restore_to(None)


def restore_to(moment):
    DatabaseIdentity.objects.using(SHARD).update(beat_at=moment)


def promote(is_synchronous):
    """As if the pulse had been that of the server before."""
    timeline = find_pulse(SHARD).timeline - 1
    Pulse.objects.update(timeline=timeline, is_synchronous=is_synchronous)


def test_pulses_of_a_shard_that_lost_nothing_only_grow(beaten):
    take_pulse(SHARD)
    assert find_pulse(SHARD).beat_at > beaten.beat_at
    assert list_losses() == {}
    assert run("shards", "check", "--shard", SHARD)[0] == 0


def test_shard_restored_to_an_earlier_moment_is_noticed_from_then_on(beaten):
    restored = beaten.beat_at - HOUR
    restore_to(restored)
    for _ in range(2):
        take_pulse(SHARD)
        assert find_pulse(SHARD).lost_since == restored
    code, lines, _ = run("shards", "check", "--shard", SHARD)
    told = f"{SHARD}: may have lost writes since {restored:%Y-%m-%d %H:%M:%S} UTC"
    assert (code, lines) == (1, [f"{told}: run shards reconcile --shard {SHARD}"])
    assert pulse.MAY_HAVE_LOST.labels(SHARD)._value.get() == 1


def test_promoted_server_may_have_lost_what_came_after_the_last_pulse(beaten):
    promote(is_synchronous=False)
    take_pulse(SHARD)
    assert find_pulse(SHARD).lost_since == beaten.beat_at
    take_pulse(SHARD)
    assert find_pulse(SHARD).lost_since == beaten.beat_at, "the next pulses do not move it"


def test_promoted_synchronous_standby_has_all_that_was_acknowledged(beaten):
    promote(is_synchronous=True)
    take_pulse(SHARD)
    assert list_losses() == {}


def test_loss_is_noticed_again_if_the_process_died_before_the_next_pulse(beaten, monkeypatch):
    restore_to(beaten.beat_at - HOUR)
    with monkeypatch.context() as dying:
        dying.setattr(pulse, "_beat", lambda *_: None)
        take_pulse(SHARD)
    assert [*list_losses()] == [SHARD]
    end_loss(SHARD, find_pulse(SHARD).noticed_at)
    take_pulse(SHARD)
    assert [*list_losses()] == [SHARD]


def test_clock_of_the_promoted_server_may_be_behind(beaten):
    ahead = beaten.beat_at + HOUR
    Pulse.objects.update(beat_at=ahead)
    take_pulse(SHARD)
    assert find_pulse(SHARD).beat_at > ahead
    end_loss(SHARD, find_pulse(SHARD).noticed_at)
    take_pulse(SHARD)
    assert list_losses() == {}


def test_pulse_of_another_compensator_in_between_is_not_written_over(beaten, monkeypatch):
    later = beaten.beat_at + HOUR
    read = pulse.fetch_one

    def read_then_other_beats(alias, sql, params=()):
        row = read(alias, sql, params)
        if sql == pulse.READ:
            restore_to(later)
        return row

    monkeypatch.setattr(pulse, "fetch_one", read_then_other_beats)
    take_pulse(SHARD)
    assert DatabaseIdentity.objects.using(SHARD).get().beat_at == later
    assert find_pulse(SHARD).beat_at == beaten.beat_at


def test_notice_ends_only_for_a_run_that_knew_of_it(beaten):
    restore_to(beaten.beat_at - HOUR)
    take_pulse(SHARD)
    first = find_pulse(SHARD)
    restore_to(first.beat_at - HOUR)
    take_pulse(SHARD)
    end_loss(SHARD, first.noticed_at)
    assert find_pulse(SHARD).lost_since == beaten.beat_at - HOUR
    end_loss(SHARD, find_pulse(SHARD).noticed_at)
    assert list_losses() == {}


def test_reconciling_begins_a_little_before_the_last_pulse_that_is_there(beaten):
    now = datetime.now(UTC)
    options = {"shard": SHARD, "since": None, "restored_wins": False}
    with pytest.raises(CommandError, match="no loss of shard1 is known"):
        _restored(now, options)
    restored = beaten.beat_at - HOUR
    restore_to(restored)
    take_pulse(SHARD)
    assert _restored(now, options).since == restored - CLOCKS
    earlier = restored - HOUR
    assert _restored(now, {**options, "since": earlier}).since == earlier
    assert _restored(earlier, options).since == earlier - CLOCKS, "a clock was ahead"


def test_operator_who_knows_that_nothing_was_lost_ends_the_notice(beaten):
    promote(is_synchronous=False)
    take_pulse(SHARD)
    assert Outcome(ReconcileShard(), "--shard", SHARD, "--nothing-lost", "--dry-run").code == 0
    assert [*list_losses()] == [SHARD]
    assert Outcome(ReconcileShard(), "--shard", SHARD, "--nothing-lost").code == 0
    assert list_losses() == {}
