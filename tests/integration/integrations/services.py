"""A service that an operator made, as its backend calls it."""

from datetime import UTC, datetime
from typing import Any

import orjson
from django.test import Client

from accounts.scopes import OF_SERVICES
from integrations.actions import create_service


class Service:
    """`account` of a request: the one that the service acts for; None for itself."""

    def __init__(self, *scopes: str, quota: int | None = None, is_bulk: bool = False) -> None:
        wanted = "Backend", list(scopes or OF_SERVICES), quota
        self.made = create_service(*wanted, datetime.now(UTC), is_bulk)
        self.client = Client(headers={"Authorization": f"Bearer {self.made.token}"})

    def get(self, path: str, account: object = None) -> Any:
        return self.client.get(path, headers=_for(account))

    def post(self, path: str, account: object = None, body: Any = None) -> Any:
        return self._send("POST", path, account, body)

    def put(self, path: str, body: Any = None, account: object = None) -> Any:
        return self._send("PUT", path, account, body)

    def delete(self, path: str, account: object = None) -> Any:
        return self._send("DELETE", path, account, None)

    def _send(self, method: str, path: str, account: object, body: Any) -> Any:
        sent = orjson.dumps(body or {})
        return self.client.generic(method, path, sent, "application/json", headers=_for(account))


def _for(account: object) -> dict[str, str]:
    return {} if account is None else {"Tideline-Account": str(account)}
