"""The services that the how-tos create may do all that these pages show."""

import re
import shlex
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import resolve

from accounts.scopes import OF_SERVICES
from lab.runner.child import CHECKOUT
from tests.world import make_account

PAGES = sorted(
    page
    for page in (CHECKOUT / "docs").rglob("*.md")
    if re.search(r"manage(?:\.py)? create_service \"", page.read_text())
)
CREATES = re.compile(r"manage(?:\.py)? (create_service \"(?:[^\n\\]|\\\n)*)")
# In a text, and as a command.
SHOWN = re.compile(r"`(GET|POST|PUT|PATCH|DELETE)\s+(/api/v[12]/[^`?\s]+)")
SENT = re.compile(r"curl((?:[^\n\\]|\\\n|\\.)*)(/api/v[12]/[^\s?\"']+)")


def calls_of(text: str) -> set[tuple[str, str]]:
    calls = {(method, path) for method, path in SHOWN.findall(text)}
    for options, path in SENT.findall(text):
        method = re.search(r"-X (\w+)", options)
        has_body = " -d " in options
        calls.add((method[1] if method else "POST" if has_body else "GET", path))
    return calls


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_created_service_may_make_each_call_of_its_page(world: None, page: Path) -> None:
    account_id, text, out = make_account(), page.read_text(), StringIO()
    command = CREATES.search(text)
    assert command is not None
    call_command(*shlex.split(command[1].replace("\\\n", " ")), stdout=out)
    token = out.getvalue().split("token ")[1].strip()
    client = Client(headers={"Authorization": f"Bearer {token}"})
    for method, path in calls_of(text):
        scope = resolve(path).func.cls.scopes.get(method, "")
        header = {} if scope in OF_SERVICES else {"Tideline-Account": str(account_id)}
        answer = client.generic(method, path, "{}", "application/json", headers=header)
        missing = answer.get("WWW-Authenticate", "")
        assert answer.status_code not in (401, 405) and not missing, (method, path, answer.content)


def test_the_pages_for_a_whole_product_grant_all_scopes() -> None:
    """Their readers go on to the client, whose methods need each of them."""
    for name in ("put-tideline-behind-your-backend", "put-tideline-into-your-django-product"):
        command = CREATES.search((CHECKOUT / "docs" / "how-to" / f"{name}.md").read_text())
        assert command is not None
        words = shlex.split(command[1].replace("\\\n", " "))
        assert {*words} >= OF_SERVICES.keys(), name
