"""What the API says about this site. It depends on the release and its settings only, so a process
asks once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
    return tuple((language["code"], language["name"]) for language in answer)


def _ask_once(api: ApiClient, path: str, read: Callable[[Any], Any]) -> Any:
    """Raises: ApiRefused."""
    if path not in _answers:
        _answers[path] = read(api.get(path).body)
    return _answers[path]
