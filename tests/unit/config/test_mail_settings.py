"""The URL of a mail server becomes the settings that this version of Django reads."""

import django
import environ
import pytest

from config.mail_settings import mail_settings

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
