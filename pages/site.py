"""What the API says about this site. It depends on the release and its settings only, so a process
asks once."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.api_client import ApiClient

Entity = Mapping[str, Any]
INSTANCE, LANGUAGES = "/api/v2/instance", "/api/v1/instance/languages"
_answers: dict[str, Any] = {}


def site_limits(api: ApiClient) -> Entity:
    """The limits of posts, images and polls. At most one request to the API."""
    limits: Entity = _ask_once(api, INSTANCE)["configuration"]
    return limits


def site_languages(api: ApiClient) -> Sequence[Entity]:
    """The languages that a post may have. At most one request to the API."""
    languages: Sequence[Entity] = _ask_once(api, LANGUAGES)
    return languages


def _ask_once(api: ApiClient, path: str) -> Any:
    """Raises: ApiRefused."""
    if path not in _answers:
        _answers[path] = api.get(path).body
    return _answers[path]
