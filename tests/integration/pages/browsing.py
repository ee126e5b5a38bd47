"""A browser without scripts, signed in to the pages."""

import re
from typing import Any

from django.http import HttpResponse
from django.test import Client

from pages.sessions import COOKIE, issue_session

PRESSED = 'aria-pressed="true"'


class Browser:
    """`account_id` None: a guest."""

    def __init__(self, account_id: int | None = None) -> None:
        self.client = Client()
        if account_id is not None:
            self.client.cookies[COOKIE] = issue_session(account_id).token

    def read(self, path: str, status: int = 200) -> str:
        answer = self.client.get(path)
        assert answer.status_code == status, (path, answer.status_code, answer.content[:500])
        return answer.content.decode()

    def send(self, path: str, data: dict[str, Any] | None = None, **headers: str) -> HttpResponse:
        answer: HttpResponse = self.client.post(path, data or {}, headers=headers)
        return answer

    def act(self, path: str, data: dict[str, Any] | None = None) -> str:
        """As a script of the page sends a form: the answer is the part of the page."""
        answer = self.send(path, data, **{"HX-Request": "true"})
        assert answer.status_code == 200, answer.content
        return answer.content.decode()


def ids_on(page: str) -> list[str]:
    """The ids of the entries of a timeline, in their order."""
    return re.findall(r'class="entry" data-id="(\d+)"', page)
