"""A shard of a world that has every kind of row is restored, and the others agree with it again."""

from datetime import UTC, datetime

import pytest

from operations.management.commands.reconcile_shard import Command as Reconcile
from tests.backups import Dump
from tests.every_kind import SHARDS, make_every_kind
from tests.integration.jobs.outcomes import Outcome
from tests.reconciling import assert_audits_find_nothing
from tests.truth import assert_drained_truth
from tests.world import drain_all
from timelines.management.commands.backfill_recent_posts import Command as Backfill


@pytest.mark.parametrize("when", ["before all", "before the changes"])
@pytest.mark.parametrize("lost", SHARDS)
def test_a_restored_shard_is_reconciled(services, tmp_path, lost, when):
    assert Outcome(Backfill()).code == 0
    since, taken = datetime.now(UTC), []

    def back_up() -> None:
        taken.append(Dump(services.postgres[lost]))

    if when == "before all":
        back_up()
    make_every_kind(tmp_path, back_up)
    taken[0].restore()
    words = ("--since", since.isoformat(), "--shard", lost)
    done = Outcome(Reconcile(), *words)
    assert done.code == 0, done.out
    assert "was lost" in done.out
    drain_all()
    assert_drained_truth()
    assert_audits_find_nothing()
    again = Outcome(Reconcile(), *words)
    assert (again.code, "was lost" in again.out) == (0, False), again.out
