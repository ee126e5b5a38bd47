"""System checks: `manage.py check` says what is wrong with the setting `TIDELINE`."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.utils.module_loading import import_string

from tideline_client.contrib.django.settings import DEFAULT_PROFILE, faults_of

LOCAL = {"localhost", "127.0.0.1", "::1"}


def register_checks() -> None:
    register(check_settings)
    register(check_transport, Tags.security, deploy=True)


def check_settings(*_: Any, **__: Any) -> Sequence[CheckMessage]:
    given = getattr(settings, "TIDELINE", {})
    faults = faults_of(given)
    if faults:
        return [Error(text, id=f"tideline.{number}") for number, text in faults]
    return _check_profile(given.get("PROFILE", DEFAULT_PROFILE))


def _check_profile(path: str) -> Sequence[CheckMessage]:
    try:
        function = import_string(path)
    except ImportError as error:
        return [Error(f"TIDELINE['PROFILE']: {error}", id="tideline.E007")]
    if not callable(function):
        return [Error(f"TIDELINE['PROFILE']: {path} is no function", id="tideline.E007")]
    return []


def check_transport(*_: Any, **__: Any) -> Sequence[CheckMessage]:
    """The token is a key to all accounts."""
    given = getattr(settings, "TIDELINE", {})
    if faults_of(given):
        return []
    parts = urlsplit(given["URL"])
    if parts.scheme == "https" or parts.hostname in LOCAL:
        return []
    text = "TIDELINE['URL'] is not https: anybody on the way can read the token"
    return [Warning(text, id="tideline.W001")]
