"""OAuth codes: the consent page, the answer, and the exchange for a token."""

import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.test import Client

from tests.sign_ups import SCOPES, App

CALLBACK = "https://reader.example/callback"
NATIVE = "reader-app://callback"


def address(app: App, **changes: str) -> str:
    query = {
        "response_type": "code",
        "client_id": app.client_id,
        "redirect_uri": CALLBACK,
        "scope": SCOPES,
        "state": "s1",
    }
    return "/oauth/authorize?" + urlencode(query | changes)


def decide(browser: Client, url: str, **decision: str) -> Any:
    """Opens the consent page and presses a button on it."""
    return browser.post(url, fields_of(browser.get(url)) | decision)


def fields_of(page: Any) -> dict[str, str]:
    """The hidden fields of the consent page."""
    pattern = r'<input type="hidden" name="(\w+)" value="([^"]*)"'
    return dict(re.findall(pattern, page.content.decode()))


def answer_of(response: Any) -> dict[str, str]:
    assert response.status_code == 302, response.content
    return {k: v[0] for k, v in parse_qs(urlsplit(response["Location"]).query).items()}


def code_for(browser: Client, app: App, **changes: str) -> str:
    return answer_of(decide(browser, address(app, **changes), allow="true"))["code"]


def exchange(app: App, code: str, **changes: str) -> Any:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
    return app.ask_token(**(form | changes))
