"""A mover is killed in the switch, on a site that people use over HTTP. No request of theirs fails.

The compensator opens what the mover closed before a request gives up.
"""

import json
import subprocess
import sys
import time
from functools import partial

import pytest

from lab.faults.cluster.with_failpoints import HAPPENED, VARIABLE
from lab.runner.child import CHECKOUT
from lab.services import running_services, throw_away_services
from tests.deployment import deployment_on
from tests.migrated_data import provide_migrated_data
from tests.moving import LOGICAL, SOURCE, TARGET
from tests.scenarios.added_shard import Person, rows

pytestmark = pytest.mark.slow
PROMISED_S = 2.0
MOVE = ("moves", "start", "--from", SOURCE, "--to", TARGET, "--share", "1")
PLACES = ("moves.closed", "moves.handed_over", "moves.closed_for_good", "moves.flipped")


@pytest.fixture
def site():
    start = partial(running_services, durable=False, postgres_settings=LOGICAL)
    with throw_away_services(start, prepare=provide_migrated_data) as services:
        site = deployment_on(services, {})
        with site.running("/health/live"):
            yield site


def kill_mover_at(site, place):
    """Returns when it died."""
    armed = {place: {"do": "sleep", "seconds": 600}}
    command = [sys.executable, "-m", "lab.faults.cluster.with_failpoints", "manage.py", *MOVE]
    environment = {**site.environment, VARIABLE: json.dumps(armed)}
    with subprocess.Popen(
        command, env=environment, cwd=CHECKOUT, stderr=subprocess.PIPE, text=True
    ) as mover:
        assert any(line.startswith(HAPPENED) for line in mover.stderr)
        mover.kill()
    return time.monotonic()


def test_requests_wait_and_none_fails(site):
    tokens = site.sign_up(*(f"person{number}" for number in range(8)))
    people = [Person(site.address, token) for token in tokens]
    mover = next(person for person in people if _is_on_source(site, person))
    for place in PLACES:
        killed_s = kill_mover_at(site, place)
        mover.ask("/api/v1/statuses", {"status": place})
        waited_s = time.monotonic() - killed_s
        assert waited_s < PROMISED_S, place
        site.manage("moves", "resume")
        mover.ask("/api/v1/statuses", {"status": "moved"})
        site.manage("moves", "undo")


def _is_on_source(site, person):
    account = person.ask("/api/v1/accounts/verify_credentials")["id"]
    sql = f"SELECT 1 FROM accounts_account WHERE id = {account}"
    return rows(site.shard_urls[0], sql) != []
