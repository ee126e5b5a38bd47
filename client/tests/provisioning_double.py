"""Provisioning as Tideline does it, in memory: idempotent by external id, usernames once, and what
is deleted stays deleted."""

import json
from typing import Any

import httpx

from site_double import ok, refused

PATH = "/api/v1/services/accounts"


class ProvisioningDouble:
    """`accounts`: what it has, by external id. `refuse`: statuses for external ids."""

    def __init__(self) -> None:
        self.accounts: dict[str, dict[str, Any]] = {}
        self.refuse: dict[str, int] = {}
        self.batches: list[list[str]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        external_id = request.url.path.removeprefix(PATH).strip("/")
        if request.method == "GET":
            known = self.accounts.get(external_id)
            return ok(self._bound(external_id)) if known else refused(404)
        if request.method == "DELETE":
            outcome = self.delete(external_id)
            return httpx.Response(outcome["status"], json=outcome)
        body = json.loads(request.content)
        if external_id:
            outcome = self.put(external_id, body)
            return httpx.Response(outcome["status"], json=outcome)
        self.batches.append([each["external_id"] for each in body["accounts"]])
        return ok([self.put(each.pop("external_id"), each) for each in body["accounts"]])

    def put(self, external_id: str, wanted: dict[str, Any]) -> dict[str, Any]:
        if status := self.refuse.get(external_id):
            return {"external_id": external_id, "status": status, "error": "not this one"}
        before = self.accounts.get(external_id)
        is_active = wanted.pop("active", None)
        if is_active is False:
            assert not wanted, "an inactive account has no profile"
            if before is None:
                return {"external_id": external_id, "status": 404, "error": "not there"}
        elif before and before["deleted"]:
            return {"external_id": external_id, "status": 403, "error": "disabled"}
        taken = {name["username"] for key, name in self.accounts.items() if key != external_id}
        username = wanted.get("username", before and before["username"])
        is_of_staff = username == "support"
        if not username or is_of_staff or username in taken:
            code = "ERR_RESERVED" if is_of_staff else "ERR_TAKEN"
            details = {"username": [{"error": code, "description": "taken"}]}
            text = "username is taken"
            return {
                "external_id": external_id, "status": 422, "error": text, "details": details,
            }  # fmt: skip
        number = before["account_id"] if before else str(len(self.accounts) + 100)
        kept = before or {"deleted": False, "suspended": False}
        changed = {} if is_active is None else {"suspended": not is_active}
        self.accounts[external_id] = {**kept, **wanted, **changed, "account_id": number}
        return {"status": 200, "created": before is None, **self._bound(external_id)}

    def delete(self, external_id: str) -> dict[str, Any]:
        if status := self.refuse.get(external_id):
            return {"status": status, "error": "not this one"}
        if external_id not in self.accounts:
            return {"status": 404, "error": "not there"}
        self.accounts[external_id] |= {"deleted": True, "suspended": True}
        return {"status": 200, **self._bound(external_id)}

    def _bound(self, external_id: str) -> dict[str, Any]:
        account = self.accounts[external_id]
        return {
            "external_id": external_id,
            "account_id": account["account_id"],
            "username": account["username"],
            "suspended": account["suspended"],
        }
