"""What a server logs of its settings: those that differ from the defaults, without secrets."""

import pytest

from config.environment import Environment, masked

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
