"""What the API says about this site. It depends on the release and its settings only, so a process
asks once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.conf.locale import LANG_INFO

from pages.api_client import ApiClient

Entity = Mapping[str, Any]
# Codes with names.
Languages = tuple[tuple[str, str], ...]
INSTANCE, LANGUAGES = "/api/v2/instance", "/api/v1/instance/languages"
_answers: dict[str, Any] = {}


def site_limits(api: ApiClient) -> Entity:
    """The limits of posts, images and polls. At most one request to the API."""
    limits: Entity = _ask_once(api, INSTANCE, lambda answer: answer["configuration"])
    return limits


def site_languages(api: ApiClient) -> Languages:
    """The languages that a post may have. At most one request to the API."""
    languages: Languages = _ask_once(api, LANGUAGES, _read_languages)
    return languages


def _read_languages(answer: Sequence[Mapping[str, str]]) -> Languages:
    """Each by the name that its own speakers give it, on pages of any language."""
    names = ((language["code"], _own_name(language)) for language in answer)
    return tuple(sorted(names, key=lambda language: language[1].casefold()))


def _own_name(language: Mapping[str, str]) -> str:
    name = str(LANG_INFO.get(language["code"], {}).get("name_local", language["name"]))
    return name[:1].upper() + name[1:]


def _ask_once(api: ApiClient, path: str, read: Callable[[Any], Any]) -> Any:
    """Raises: ApiRefused."""
    if path not in _answers:
        _answers[path] = read(api.get(path).body)
    return _answers[path]
