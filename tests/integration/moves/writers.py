"""Accounts that move and accounts that stay, and what they do while others move."""

import json
import random
from contextlib import suppress

from django.db import OperationalError

from relations.actions.follow import follow
from tests.api_process import ApiProcess
from tests.moving import MASK, make_movers
from tests.private_world import catch_up
from tests.world import drain_all, make_accounts, publish


def make_friends(text: str) -> list[int]:
    """Two accounts that move, then two that stay. All follow each other and have published this."""
    people = [*make_movers(2), *[a for a in make_accounts(6) if a & MASK][:2]]
    for account in people:
        for other in people:
            if account != other:
                follow(account, other)
        publish(account, text)
    catch_up()
    return people


class Writer:
    """Somebody who posts, marks and reads at a web process of their own. No call may fail."""

    def __init__(self, account: int, token: str, process: ApiProcess) -> None:
        self.account, self._token, self._process = account, token, process
        self.posted: list[str] = []
        self._ask("GET", "/api/v1/timelines/home")

    def act(self) -> None:
        wanted = {"status": f"{random.random()}", "custom": {"minutes": 40}}
        posted = json.loads(self._ask("POST", "/api/v1/statuses", wanted))
        self.posted.append(posted["id"])
        self._ask("POST", f"/api/v1/statuses/{posted['id']}/favourite")
        own = json.loads(self._ask("GET", f"/api/v1/accounts/{self.account}/statuses?limit=40"))
        assert posted["id"] in [status["id"] for status in own]
        self._ask("GET", "/api/v1/timelines/home")

    def _ask(self, method: str, path: str, body: object = None) -> str:
        status, text = self._process.do(method, self._token, path, body)
        assert status == 200, f"{method} {path}: {status} {text}"
        return text


def drain_patiently() -> None:
    """As a drainer does: it tries again when a shard tells of a later map."""
    with suppress(OperationalError):
        drain_all()
