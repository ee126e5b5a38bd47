"""Clients of the API with a real token, as Django's test client speaks to it."""

from datetime import UTC, datetime
from typing import Any

import orjson
from django.http import HttpResponse
from django.test import Client

from accounts.actions.tokens import issue_token
from accounts.errors import LoginDisabled
from accounts.models import Application, User
from accounts.queries.viewers import find_viewer
from pages.sessions import BACKEND, OF_TOKEN, issue_session

SCOPES = "read write follow"


class Caller:
    """Somebody with a token of these scopes; `account_id` None: an application's own token."""

    def __init__(self, account_id: int | None, scope: str = SCOPES) -> None:
        self.id = account_id
        self.client = Client(headers={"Authorization": f"Bearer {token_of(account_id, scope)}"})

    def get(self, path: str, query: Any = None) -> Any:
        return self.client.get(path, query)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """Sends JSON, as all of today's clients do."""
        sent = b"" if body is None else orjson.dumps(body)
        return self.client.post(path, sent, "application/json", headers=headers)

    def put(self, path: str, body: Any = None) -> Any:
        return self.client.put(path, orjson.dumps(body), "application/json")

    def delete(self, path: str) -> Any:
        return self.client.delete(path)


def token_of(account_id: int | None, scope: str = SCOPES) -> str:
    application, _ = Application.objects.get_or_create(
        name="Tests",
        defaults={"scopes": SCOPES, "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"},
    )
    return issue_token(account_id, application.pk, scope, datetime.now(UTC)).token


def sign_in(browser: Client, user: User) -> None:
    """As if the person had been at the sign-in page before."""
    browser.force_login(user, BACKEND)
    session = browser.session
    session[OF_TOKEN] = issue_session(user.pk).id
    session.save()


def is_disabled(token: str) -> bool:
    """Whether who shows this token is told that their login is disabled."""
    try:
        find_viewer(token)
    except LoginDisabled:
        return True
    return False


def ids_of(answer: HttpResponse) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [entity["id"] for entity in orjson.loads(answer.content)]


def assert_refused(answer: Any, *statuses: int) -> None:
    """One of these, and as an answer of the API."""
    assert answer.status_code in statuses, (answer.status_code, answer.content)
    assert answer["Content-Type"].startswith("application/json")
    assert answer.json()["error"]


def next_link(answer: HttpResponse) -> str | None:
    """Path and query of the older page, or None."""
    for link in answer.get("Link", "").split(", "):
        if 'rel="next"' in link:
            return link[1 : link.index(">")].removeprefix("http://localhost:8000")
    return None
