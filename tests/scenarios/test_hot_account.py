"""Seed S0: hundreds of changes a second of one count are a few writes a second of its row.

The seed's size: HOT_FOLLOWS_PER_S=500 HOT_SECONDS=60 pytest tests/scenarios/test_hot_account.py -s
"""

import os
import sys

import pytest
from django.conf import settings

from tests.scenarios.hot_account import followers_of, run
from tests.truth import assert_drained_truth
from tests.world import make_account

FOLLOWS_PER_S = int(os.environ.get("HOT_FOLLOWS_PER_S", "200"))
SECONDS = int(os.environ.get("HOT_SECONDS", "3"))
ROUND_S = float(os.environ.get("HOT_ROUND_S", "1"))
# A change waits for the round in hand and is in the next one, and once more where it has failed.
# A crowded machine has longer rounds.
MOST_ROUNDS = 4


@pytest.mark.slow
@pytest.mark.timeout(900 + 5 * SECONDS)
def test_everybody_follows_one_account(world):
    star = make_account()
    report = run(star, FOLLOWS_PER_S, SECONDS, ROUND_S)
    assert report.follows == FOLLOWS_PER_S * SECONDS
    sys.stdout.write(f"{report}, {report.follows_per_s:.0f} follows/s,")
    sys.stdout.write(f" {report.writes_per_s:.1f} writes/s of the account's row\n")
    assert followers_of(star).value == report.follows
    assert report.most_lag_s < MOST_ROUNDS * report.longest_round_s
    # One for each batch, however many follows it has: a lane of a shard gives one a round.
    batches = len(settings.SHARD_ALIASES) * settings.CHANGE_LANES
    rounds = (report.seconds + report.caught_up_s) / ROUND_S + 2
    assert report.writes <= batches * rounds
    assert report.writes < report.follows / 5
    assert_drained_truth()
