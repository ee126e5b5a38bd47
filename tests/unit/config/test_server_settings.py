"""Chunked bodies: what they may cost the event loop that reads them.

Answers that are sent while they are made.

Full collections of the garbage collector: each would stop all requests of a web process.

What a server logs of its settings: those that differ from the defaults, without secrets.

The URL of a mail server becomes the settings that this version of Django reads.
"""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import django
import environ
import pytest
from django.db import OperationalError

from config.constants import REMOVED_SETTINGS
from config.django_settings import mail_settings
from config.environment import Environment, masked
from web.serving.bodies import MOST_PIECES, read_pieces
from web.serving.refusals import BODY_TOO_LARGE
from web.serving.streamed_answers import PieceSender

SIZE = 1_000_000


async def arriving(count):
    """A body of `count` pieces of one byte. The empty piece is its end."""
    for _ in range(count - 1):
        yield b"x"
    yield b""


@pytest.mark.parametrize("count", [2, MOST_PIECES, MOST_PIECES + 1, MOST_PIECES * 2])
def test_a_body_has_a_limit_of_pieces(count):
    body = asyncio.run(read_pieces(arriving(count), SIZE))
    if count > MOST_PIECES:
        assert body is BODY_TOO_LARGE
    else:
        assert body == b"x" * (count - 1)


@pytest.fixture
def sender() -> PieceSender:
    protocol = SimpleNamespace(response_stream=lambda *_: None)
    request: Any = SimpleNamespace(scope=SimpleNamespace(path="/archive"), protocol=protocol)
    loop: Any = None
    return PieceSender(loop, request, (200, []))


def fail(error: Exception) -> Any:
    raise error
    yield


def test_a_store_that_fails_ends_the_answer_without_a_traceback(sender: PieceSender) -> None:
    sender.send_all(fail(OperationalError("a shard hangs")))


def test_other_errors_are_errors_of_ours(sender: PieceSender) -> None:
    with pytest.raises(ValueError, match="a fault"):
        sender.send_all(fail(ValueError("a fault")))


# Objects that stay, as those of caches do.
CODE = """
import gc
from web.serving.worker import collect_all_rarely
gc.collect()
{call}
before = gc.get_stats()[2]["collections"]
kept = [[] for _ in range(500_000)]
print(gc.get_stats()[2]["collections"] - before)
"""


def test_caches_that_fill_cause_no_full_collection() -> None:
    assert _full_collections("collect_all_rarely()") == 0
    assert _full_collections("") > 0, "the test makes enough objects"


def _full_collections(call: str) -> int:
    environment = {**os.environ, "DEVELOPMENT": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", CODE.format(call=call)]
    return int(subprocess.check_output(command, env=environment))


SECRETS = ("hunter2", "s3cr3t")


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("SECRET_KEY", "s3cr3t", "***"),
        ("OIDC_CLIENT_SECRET", "s3cr3t", "***"),
        ("METRICS_TOKEN", "s3cr3t", "***"),
        ("SENTRY_DSN", "https://s3cr3t@sentry.example/1", "***"),
        ("HOT_KEY_READS", "50", "50"),
        ("PASSWORD_HASHES", "2", "2"),
        ("DATABASE_URL", "postgresql://me:hunter2@db/x", "postgresql://***@db/x"),
        ("DATABASE_URL", "postgresql://me:a/b@hunter2@db/x", "postgresql://***@db/x"),
        ("DATABASE_URL", "postgresql://db/x?password=hunter2&a=b", "postgresql://db/x?password=***&a=b"),
        ("SHARD_DATABASE_URLS", "p://u:hunter2@a/x,p://u:s3cr3t@b/y", "p://***@a/x,p://***@b/y"),
        ("MAIL_URL", "smtp://u:hunter2@mail:25", "smtp://***@mail:25"),
        ("PUBLIC_URL", "https://feed.example", "https://feed.example"),
    ],
)  # fmt: skip
def test_no_secret_is_shown(name: str, text: str, shown: str) -> None:
    assert masked(name, text) == shown
    assert not any(secret in shown for secret in SECRETS)


def test_only_what_differs_from_its_default_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("ONE", "5"), ("TWO", "7"), ("URL_TOKEN", "x"), ("FOUR", "many")):
        monkeypatch.setenv(name, text)
    read = Environment()
    assert [read.number(name, 5, 0, 9) for name in ("ONE", "TWO", "THREE", "FOUR")] == [5, 7, 5, 5]
    read.text("URL_TOKEN", "")
    assert read.changed == {"TWO": "7", "URL_TOKEN": "***"}


URL = "smtp+tls://tideline:secret@mail.example:2525"


def test_a_server_is_named_by_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(django, "VERSION", (5, 2, 0, "final", 0))
    found = mail_settings(environ.Env.email_url_config(URL))
    assert found["EMAIL_BACKEND"].endswith("smtp.EmailBackend")
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"]) == ("mail.example", 2525)
    assert found["EMAIL_USE_TLS"] and found["EMAIL_TIMEOUT"] == 10


def test_newer_versions_name_it_by_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(django, "VERSION", (6, 1, 0, "final", 0))
    mailer = mail_settings(environ.Env.email_url_config(URL))["MAILERS"]["default"]
    assert mailer["BACKEND"].endswith("smtp.EmailBackend")
    expected = {"host": "mail.example", "username": "tideline", "use_tls": True, "timeout": 10}
    assert mailer["OPTIONS"].items() >= expected.items()


@pytest.mark.parametrize("version", [(5, 2), (6, 1)])
@pytest.mark.parametrize("url", ["consolemail://", ""])
def test_others_have_no_options(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], url: str
) -> None:
    monkeypatch.setattr(django, "VERSION", version)
    config = environ.Env.email_url_config(url) if url else {}
    found = mail_settings({name: value for name, value in config.items() if value})
    assert "EMAIL_HOST" not in found and not found.get("MAILERS", {}).get("OPTIONS")
    assert ("console" if url else "dummy") in str(found)


def test_settings_that_went_are_named_at_the_start() -> None:
    environment = {**os.environ, "DEVELOPMENT": "1", "TAGS_PER_DAY": "9", "SHORT_PATH": "0"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "settings.without_effect" in done.stderr
    assert "SHORT_PATH" in done.stderr and "TAGS_PER_DAY" in done.stderr


def test_no_setting_that_went_is_read() -> None:
    read = set(re.findall(r'_env\.\w+\(\s*"(\w+)"', Path("config/settings.py").read_text()))
    assert len(read) > 60
    assert not read & REMOVED_SETTINGS
