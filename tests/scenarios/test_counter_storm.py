"""Counts after a storm of acts, deaths, repeats and disorder: drift 0, and never below zero.

The full size, an hour or more: OPERATIONS=1000000 pytest tests/scenarios/test_counter_storm.py -s
"""

import os
import sys
import time

import pytest
from django.conf import settings

from counters.management.commands.audit_counters import Command as AuditCounters
from counters.management.commands.rebuild_count_cache import Command as RebuildCountCache
from infra.changes.compensate import compensate
from infra.changes.lag import lag_of
from infra.sharding.placement import all_aliases
from tests.integration.jobs.outcomes import Outcome
from tests.scenarios.storm import DEATHS, Storm
from tests.truth import assert_drained_truth
from tests.world import make_accounts

OPERATIONS = int(os.environ.get("OPERATIONS", "400"))
SEED = int(os.environ.get("SEED", time.time_ns() // 10**9))


def catch_up() -> None:
    """As the compensator does, until nothing is left; rows that failed wait for their time."""
    while any(lag.pending for alias in all_aliases() for lag in lag_of(alias)):
        for alias in all_aliases():
            for _ in compensate(alias):
                pass
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.timeout(120 + OPERATIONS)
def test_counts_hold_through_a_storm(world):
    storm, began_s = Storm(make_accounts(24), OPERATIONS, SEED), time.monotonic()
    storm.rage()
    raged_s = time.monotonic() - began_s
    catch_up()
    rate = OPERATIONS / raged_s
    sys.stdout.write(f"seed {SEED}: {rate:.0f} acts/s, {dict(storm.seen)}\n")
    assert storm.seen["died"] >= OPERATIONS * DEATHS / 4
    assert storm.seen["delivered twice or out of order"]
    assert storm.seen["read"]
    assert Outcome(AuditCounters()).out.endswith(" accounts done, 0 failed\n")
    assert " 0 would change" in Outcome(RebuildCountCache(), "--dry-run").out
    assert not any(lag.parked for alias in settings.SHARD_ALIASES for lag in lag_of(alias))
    assert_drained_truth()
