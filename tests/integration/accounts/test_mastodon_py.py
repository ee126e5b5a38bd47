"""Mastodon.py, unchanged, against a server on a real port."""

import re
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import WSGIRequestHandler, WSGIServer
from django.db import connections
from django.test import Client
from mastodon import (
    CallbackStreamListener,
    Mastodon,
    MastodonIllegalArgumentError,
    MastodonNotFoundError,
    MastodonUnauthorizedError,
)
from pytest_django import Settings

from tests.delivered import deliver_all
from tests.integration.accounts.consent import decide
from tests.integration.streaming.serving import running_streams
from tests.sign_ups import PASSWORD
from tests.waiting import until

pytestmark = pytest.mark.slow


class QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def address(world: None, settings: Settings) -> Iterator[str]:
    """A server with one thread, so that one set of database connections is enough."""
    server = WSGIServer(("127.0.0.1", 0), QuietHandler)
    server.set_app(WSGIHandler())

    def serve() -> None:
        try:
            server.serve_forever(poll_interval=0.01)
        finally:
            connections.close_all()

    thread = Thread(target=serve)
    thread.start()
    settings.PUBLIC_URL = f"http://127.0.0.1:{server.server_port}"
    yield settings.PUBLIC_URL
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def keys(address: str) -> dict[str, str]:
    client_id, secret = Mastodon.create_app("Mastodon.py", api_base_url=address)
    return {"client_id": client_id, "client_secret": secret, "api_base_url": address}


@pytest.fixture
def person(keys: dict[str, str]) -> Mastodon:
    api = Mastodon(**keys)
    api.create_account("ann", PASSWORD, "ann@example.org", agreement=True)
    return api


def test_signing_up_looking_and_leaving(person: Mastodon, keys: dict[str, str]) -> None:
    me = person.account_verify_credentials()
    assert (me.username, me.source.note) == ("ann", "")
    assert person.app_verify_credentials().name == "Mastodon.py"
    assert person.account_update_credentials(display_name="Ann", note="hi").display_name == "Ann"
    assert person.account(me.id).note == "<p>hi</p>"
    assert person.account_lookup("ann").id == me.id
    assert [account.id for account in person.accounts([me.id])] == [me.id]
    token = person.access_token
    person.revoke_access_token(allow_http=True)
    left = Mastodon(access_token=token, **keys)
    with pytest.raises(MastodonUnauthorizedError):
        left.account_verify_credentials()


def test_logging_in_by_password(person: Mastodon, keys: dict[str, str]) -> None:
    api = Mastodon(**keys)
    assert api.log_in("ann@example.org", PASSWORD, allow_http=True)
    assert api.me().username == "ann"
    with pytest.raises(MastodonIllegalArgumentError):
        Mastodon(**keys).log_in("ann@example.org", "wrong", allow_http=True)


def test_logging_in_by_code(person: Mastodon, address: str) -> None:
    client_id, secret = Mastodon.create_app("Another", api_base_url=address)
    api = Mastodon(client_id, secret, api_base_url=address)
    url = urlsplit(api.auth_request_url(state="s", allow_http=True))
    browser = Client()
    browser.post("/auth/sign_in", {"username": "ann", "password": PASSWORD})
    page = decide(browser, f"{url.path}?{url.query}", allow="true").content.decode()
    code = re.search(r'<output id="code">(.+?)</output>', page)
    assert code is not None
    api.log_in(code=code[1], allow_http=True)
    assert api.me().username == "ann"


def test_a_refused_sign_up_is_explained(person: Mastodon, keys: dict[str, str]) -> None:
    token, why = Mastodon(**keys).create_account(
        "ANN", PASSWORD, "other@example.org", agreement=True, return_detailed_error=True
    )
    assert token is None
    assert why.details.username[0].error == "ERR_TAKEN"


def test_keeping_lists(person: Mastodon, keys: dict[str, str]) -> None:
    bob = Mastodon(**keys)
    bob.create_account("bob", PASSWORD, "bob@example.org", agreement=True)
    them = bob.me()
    post = bob.status_post("hello")
    made = person.list_create("close")
    with pytest.raises(MastodonNotFoundError):
        person.list_accounts_add(made, [them])
    person.account_follow(them)
    person.list_accounts_add(made, [them])
    assert [account.id for account in person.list_accounts(made)] == [them.id]
    assert [one.title for one in person.account_lists(them)] == ["close"]
    assert [status.id for status in person.timeline_list(made)] == [post.id]
    assert person.list_update(made, "far", replies_policy="none").title == "far"
    assert [(one.id, one.replies_policy) for one in person.lists()] == [(made.id, "none")]
    assert person.list(made).exclusive is False
    person.list_accounts_delete(made, [them])
    assert person.timeline_list(made) == []
    person.list_delete(made)
    assert person.lists() == []


def test_asking_about_the_site(person: Mastodon) -> None:
    assert person.instance_v1().stats.user_count == 1
    assert person.instance_v2().configuration.statuses.max_characters == 500
    assert person.instance().title == "Tideline"


def test_streams_over_server_sent_events(
    person: Mastodon, settings: Settings, tmp_path: Path
) -> None:
    posts: list[Any] = []
    deletions: list[Any] = []
    listener = CallbackStreamListener(update_handler=posts.append, delete_handler=deletions.append)
    with running_streams(tmp_path / "streaming.log") as (_, port):
        settings.STREAMING_URL = f"ws://127.0.0.1:{port}"
        stream = person.stream_user(listener, run_async=True)
        try:
            until(stream.is_receiving)
            published = person.status_post("told at once")
            deliver_all()
            until(lambda: posts)
            person.status_delete(published)
            deliver_all()
            until(lambda: deletions)
        finally:
            stream.close()
    assert [post.id for post in posts] == [published.id] == [str(i) for i in deletions]
