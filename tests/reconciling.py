"""Acts of accounts on chosen shards, and the audits that must find nothing after a repair."""

from infra.sharding.buckets import shard_of
from lab.reference.commands import load_command
from tests.callers import Caller
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES
from tests.world import make_account

AUDITS = [
    "accounts", "edges", "responses", "conversations", "tags", "recent-posts", "notifications",
    "counters",
]  # fmt: skip


def make_on(alias: str) -> int:
    """The next accounts, until one is on this shard."""
    while shard_of(account_id := make_account()) != alias:
        pass
    return account_id


def write(caller: Caller, text: str, **more: object) -> str:
    answer = caller.post(STATUSES, {"status": text, **more})
    assert answer.status_code == 200, answer.content
    return str(answer.json()["id"])


def act(caller: Caller, other: int, verb: str) -> None:
    assert caller.post(f"/api/v1/accounts/{other}/{verb}").status_code == 200


def assert_audits_find_nothing() -> None:
    for name in AUDITS:
        audited = Outcome(load_command(f"audit {name}"))
        assert (audited.code, name) == (0, name), audited.out
