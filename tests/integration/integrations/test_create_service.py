"""manage.py services create: an application of the operator, with a token.

The services that the how-tos create may do all that these pages show.
"""

import re
import shlex
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import resolve

from accounts.scopes import OF_SERVICES
from integrations.verbs.applications import CreateService
from lab.runner.child import CHECKOUT
from tests.callers import Caller, assert_refused
from tests.sign_ups import App, bearer
from tests.world import make_account

PATH = "/api/v1/services/events"
pytestmark = pytest.mark.usefixtures("world")


def create(name="Mirror", **options):
    out = StringIO()
    call_command(CreateService(), name, stdout=out, **options)
    return dict(line.split() for line in out.getvalue().splitlines())


def test_its_token_reads_the_change_feed_and_nothing_of_accounts():
    client, made = Client(), create()
    assert client.get(PATH, **bearer(made["token"])).status_code == 200
    for path in ("/api/v1/timelines/home", "/api/v1/accounts/verify_credentials"):
        assert client.get(path, **bearer(made["token"])).status_code in (403, 422)


def test_it_gets_another_token_with_its_secret():
    client, made = Client(), create()
    service = App(client, made["client_id"], made["secret"])
    token = service.own_token("service:changes")
    assert client.get(PATH, **bearer(token)).status_code == 200


def test_nobody_registers_one_over_http():
    form = {"client_name": "Spy", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"}
    answer = Client().post("/api/v1/apps", form | {"scopes": "read service:changes"})
    assert_refused(answer, 422)
    app = App.register(Client(), "read")
    answer = app.ask_token(grant_type="client_credentials", scope="service:changes")
    assert answer.status_code == 400
    assert_refused(Caller(None, "read write follow push").get(PATH), 403)


def test_it_has_a_quota_of_its_own():
    client, made = Client(), create(quota=2)
    answers = [client.get(PATH, **bearer(made["token"])) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]


@pytest.mark.parametrize("options", [{"quota": 0}, {"name": " "}, {"name": "x" * 61}])
def test_wrong_options_are_refused(options):
    with pytest.raises(CommandError):
        create(**options)


PAGES = sorted(
    page
    for page in (CHECKOUT / "docs").rglob("*.md")
    if re.search(r"manage(?:\.py)? services create \"", page.read_text())
)
CREATES = re.compile(r"manage(?:\.py)? (services create \"(?:[^\n\\]|\\\n)*)")
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
