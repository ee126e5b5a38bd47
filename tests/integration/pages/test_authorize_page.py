"""The screens on which a person lets an application in."""

import re
from html import unescape

from django.conf import settings
from django.test import Client

from tests.integration.accounts.consent import CALLBACK, address, answer_of, decide
from tests.sign_ups import PASSWORD, App
from tests.world import make_account

WEBSITE = "https://reader.example"


def _reader(client: Client) -> App:
    form = {
        "client_name": "Reader", "redirect_uris": CALLBACK, "website": WEBSITE,
        "scopes": "read write follow push",
    }  # fmt: skip
    made = client.post("/api/v1/apps", form).json()
    return App(client, made["client_id"], made["client_secret"])


def _sign_in(browser: Client, where: str, name: str) -> str:
    form = {"username": name, "password": PASSWORD, "next": where}
    return str(browser.post("/auth/sign_in", form)["Location"])


def test_the_screens_name_the_site_and_the_application(world: None, client: Client) -> None:
    reader = _reader(client)
    App.register(client).sign_up("ann")
    browser = Client()
    asked = browser.get(address(reader))["Location"]
    page = browser.get(asked).content.decode()
    for text in (f"Sign in to {settings.INSTANCE_TITLE}", "<b>Reader</b>", WEBSITE):
        assert text in page
    where = _sign_in(browser, address(reader), "ann")
    question = browser.get(where).content.decode()
    for text in (settings.INSTANCE_TITLE, "<b>Reader</b>", WEBSITE, "Signed in as @ann"):
        assert text in question


def test_another_account_comes_back_to_the_same_question(world: None, client: Client) -> None:
    reader = _reader(client)
    for name in ("ann", "bob"):
        App.register(client).sign_up(name)
    browser = Client()
    where = _sign_in(browser, address(reader), "ann")
    [link] = re.findall(r'href="([^"]+)">Use another account', browser.get(where).content.decode())
    asked = browser.get(unescape(link))["Location"]
    [there] = re.findall(r'name="next" value="([^"]+)"', browser.get(asked).content.decode())
    back = _sign_in(browser, unescape(there), "bob")
    assert "Signed in as @bob" in browser.get(back).content.decode()
    answer = answer_of(decide(browser, back, allow="true"))
    assert answer["state"] == "s1" and "code" in answer


def test_sign_in_without_an_application_names_none(world: None) -> None:
    make_account("ann")
    for where in ("/public?client_id=x", "/oauth/authorize?client_id=x", "/oauth/authorize", "//["):
        page = Client().get("/auth/sign_in", {"next": where})
        assert page.status_code == 200 and b"may use your account" not in page.content
