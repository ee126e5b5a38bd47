"""A viewer in process memory is used only if the log was read before, not after."""

import time
from hashlib import sha256

from django.test import Client

from accounts.cache import end_token_commands
from accounts.models import AccessToken
from accounts.queries.viewers import _viewers, token_invalidation_commands
from infra.caching.client import redis
from infra.caching.invalidation_log import LOG, InvalidationLog
from tests.callers import token_of
from tests.races import failures, run_together
from tests.world import make_account

PATH = "/api/v1/accounts/verify_credentials"


def test_a_token_that_ended_long_ago_is_refused(world, monkeypatch):
    token = token_of(make_account())
    headers = {"Authorization": f"Bearer {token}"}
    for _ in range(3):
        assert Client().get(PATH, headers=headers).status_code == 200
    checksum = sha256(token.encode()).hexdigest()
    assert checksum in _viewers._by_checksum
    # What another process does, which this one learns by the log alone.
    AccessToken.objects.filter(token_checksum=checksum).delete()
    redis().run(list(end_token_commands(checksum)))
    redis().run(token_invalidation_commands([checksum], time.time()))
    monkeypatch.setattr(LOG, "_read_at", LOG._read_at - 10.0)  # ten seconds later

    find, switched = InvalidationLog.find_fresh_offset, []

    def others_run():
        LOG.read()  # a page of somebody else

    def find_later(log):
        if log is LOG and not switched:
            switched.append(True)
            assert failures(run_together([others_run])) == []
        return find(log)

    monkeypatch.setattr(InvalidationLog, "find_fresh_offset", find_later)
    assert Client().get(PATH, headers=headers).status_code == 401
    assert switched
