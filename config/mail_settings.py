"""Django's settings for sending mails: MAILERS from Django 6.1 on, before it EMAIL_…."""

from collections.abc import Mapping
from typing import Any

import django

_NONE = "django.core.mail.backends.dummy.EmailBackend"
_OPTIONS = {
    "EMAIL_HOST": "host",
    "EMAIL_PORT": "port",
    "EMAIL_HOST_USER": "username",
    "EMAIL_HOST_PASSWORD": "password",
    "EMAIL_USE_TLS": "use_tls",
    "EMAIL_USE_SSL": "use_ssl",
    "EMAIL_TIMEOUT": "timeout",
}
_DEFAULTS = {"EMAIL_PORT": 587, "EMAIL_TIMEOUT": 10}


def mail_settings(server: Mapping[str, Any]) -> dict[str, Any]:
    """By name, for a server as the URL describes it. Empty: mails are sent nowhere."""
    backend = server.get("EMAIL_BACKEND", _NONE)
    given = {name: server[name] for name in _OPTIONS if name in server}
    options = _DEFAULTS | given if "EMAIL_HOST" in given else given
    if django.VERSION < (6, 1):
        return {"EMAIL_BACKEND": backend, **options}
    named = {_OPTIONS[name]: value for name, value in options.items()}
    return {"MAILERS": {"default": {"BACKEND": backend, "OPTIONS": named}}}
