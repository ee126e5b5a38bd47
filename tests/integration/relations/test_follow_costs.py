"""What a follow costs: statements of the request, and commands of Redis, those in scripts too."""

import re

from accounts.queries.load import load_account_json
from infra.caching.client import redis
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.timelines.homes import first_page
from tests.world import drain_all, make_accounts, publish


def count_commands() -> int:
    """Commands that Redis has run, without INFO."""
    text = redis().call("INFO", "commandstats").decode()
    calls = re.findall(r"cmdstat_(?!info)\S+:calls=(\d+)", text)
    return sum(map(int, calls))


def test_a_follow_is_few_statements_and_commands(world: None) -> None:
    me, *others = make_accounts(6)
    caller = Caller(me)
    for author in others:
        publish(author)
    load_account_json(others)
    commands = []
    for author in others:
        before = count_commands()
        with count_calls() as calls:
            assert caller.post(f"/api/v1/accounts/{author}/follow").status_code == 200
        commands.append(count_commands() - before)
        drain_all()
        first_page(me)
    # the edge, and the relationship for the answer
    assert calls.sql.total() == 2
    # Other threads of the process ask this Redis, too.
    assert min(commands[2:]) <= 60
