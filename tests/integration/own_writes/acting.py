"""People who act through the API, and what they see at their next read."""

from typing import Any, Self

import orjson

from infra.sharding.buckets import shard_of
from tests.api_process import ApiProcess
from tests.callers import Caller, token_of
from tests.world import make_accounts

STATUSES, ACCOUNTS = "/api/v1/statuses", "/api/v1/accounts"


class Person(Caller):
    """A caller with an account."""

    def __init__(self, account_id: int) -> None:
        super().__init__(account_id)
        self.id = str(account_id)

    def act(self, path: str, body: Any = None, method: str = "POST") -> Any:
        """The answer to a write, decoded."""
        answer = self.client.generic(method, path, orjson.dumps(body or {}), "application/json")
        assert answer.status_code == 200, answer.content
        return answer.json()

    def see(self, path: str) -> Any:
        """The answer to a read, decoded."""
        answer = self.client.get(path)
        assert answer.status_code == 200, (path, answer.content)
        return answer.json()

    def see_ids(self, path: str) -> list[str]:
        return [entity["id"] for entity in self.see(path)]


class RemoteCaller(Person):
    """Acts in another process, and reads in this one."""

    _process: ApiProcess

    @classmethod
    def acting_for(cls, person: Person, process: ApiProcess) -> Self:
        caller = cls(int(person.id))
        caller._process, caller._token = process, token_of(int(person.id))
        return caller

    def act(self, path: str, body: Any = None, method: str = "POST") -> Any:
        status, text = self._process.do(method, self._token, path, body or {})
        assert status == 200, text
        return orjson.loads(text)


def make_pair() -> tuple[Person, Person]:
    """Two accounts on different shards."""
    people = make_accounts(8)
    first = people[0]
    second = next(one for one in people if shard_of(one) != shard_of(first))
    return Person(first), Person(second)


def publish(person: Person, text: str = "hello", **fields: Any) -> str:
    return str(person.act(STATUSES, {"status": text, **fields})["id"])
