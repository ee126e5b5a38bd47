"""Interactions with posts through HTTP."""

from tests.callers import Caller

STATUSES = "/api/v1/statuses"


def do(caller: Caller, act: str, post: str, status: int = 200):
    answer = caller.post(f"{STATUSES}/{post}/{act}")
    assert answer.status_code == status, answer.content
    return answer.json()


def see(caller: Caller, post: str):
    answer = caller.get(f"{STATUSES}/{post}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def reply(caller: Caller, post: str, text: str = "so?"):
    answer = caller.post(STATUSES, {"status": text, "in_reply_to_id": post})
    assert answer.status_code == 200, answer.content
    return answer.json()
