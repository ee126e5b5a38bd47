"""Turns operations of the mix into HTTP requests with access tokens."""

from collections.abc import Sequence

import orjson

from lab.bench.linkbench_mix import Operation
from lab.bench.world import make_token

PAGE = 40


class Callers:
    """A token for each actor. The first actor sends the requests that any account may send."""

    def __init__(self, actors: Sequence[int]) -> None:
        self._tokens = {actor: make_token(actor) for actor in actors}
        self._anybody = actors[0]

    def request_for(self, operation: Operation) -> bytes:
        """A getlinklist is always a first page, because only its answer names the next one."""
        account_id = operation.account_id
        if operation.kind == "getlinklist":
            name = "followers" if operation.is_followers else "following"
            return self._get(self._anybody, f"/api/v1/accounts/{account_id}/{name}?limit={PAGE}")
        if operation.kind == "getlink":
            ids = "&".join(f"id[]={other}" for other in operation.others)
            return self._get(account_id, f"/api/v1/accounts/relationships?{ids}")
        if operation.kind in ("countlink", "getnode"):
            return self._get(self._anybody, f"/api/v1/accounts/{account_id}")
        act = "unfollow" if operation.kind == "deletelink" else "follow"
        body = orjson.dumps({} if operation.notify is None else {"notify": operation.notify})
        path = f"/api/v1/accounts/{operation.others[0]}/{act}"
        return self._head("POST", account_id, path, body) + body

    def _get(self, account_id: int, path: str) -> bytes:
        return self._head("GET", account_id, path, b"")

    def _head(self, method: str, account_id: int, path: str, body: bytes) -> bytes:
        lines = [
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {self._tokens[account_id]}",
        ]
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode()
