"""The setting `TIDELINE` of the product, read once and checked.

    TIDELINE = {
        "URL": "https://feed.example.org",
        "TOKEN": os.environ["TIDELINE_TOKEN"],
    }

| key | default | is |
|---|---|---|
| `URL` | | the address of Tideline |
| `TOKEN` | | the token of a service, with `service:accounts service:read` and what you use |
| `PROFILE` | `tideline_client.contrib.django.profiles.profile_of` | a function: user to profile |
| `PAGE_DEADLINE_MS` | 500 | how long a page waits for a feed |
| `WEBHOOK_SECRET` | `""` | what `webhooks create` printed |
| `ISSUER` | `""` | `iss` of your JWTs, as `issuers trust` knows it |
| `AUDIENCE` | `URL` | `aud` of your JWTs: `PUBLIC_URL` of Tideline |
| `SIGNING_KEY` | `""` | the private JWK that signs them, as JSON |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

DEFAULT_PROFILE = "tideline_client.contrib.django.profiles.profile_of"
LEAST_DEADLINE_MS, MOST_DEADLINE_MS = 1, 10_000


@dataclass(frozen=True, slots=True)
class TidelineSettings:
    """See the module. Secrets are not in its text, which error reports show."""

    url: str = ""
    token: str = field(default="", repr=False)
    profile: str = DEFAULT_PROFILE
    page_deadline_ms: int = 500
    webhook_secret: str = field(default="", repr=False)
    issuer: str = ""
    audience: str = ""
    signing_key: str = field(default="", repr=False)

    @property
    def profile_of(self) -> Callable[[Any], Mapping[str, Any] | None]:
        function: Callable[[Any], Mapping[str, Any] | None] = import_string(self.profile)
        return function

    def need(self, key: str) -> str:
        """A setting that has no default. Raises: ImproperlyConfigured."""
        value = str(getattr(self, key.lower()))
        if not value:
            raise ImproperlyConfigured(f"TIDELINE[{key!r}] is missing")
        return value


KEYS = {each.name.upper() for each in fields(TidelineSettings)}


@cache
def read_settings() -> TidelineSettings:
    """Raises: ImproperlyConfigured."""
    given = getattr(settings, "TIDELINE", {})
    faults = [text for _, text in faults_of(given)]
    if faults:
        raise ImproperlyConfigured(faults[0])
    return TidelineSettings(**{key.lower(): value for key, value in given.items()})


def faults_of(given: object) -> list[tuple[str, str]]:
    """What is wrong, as pairs of a number for `check` and a text."""
    if not isinstance(given, Mapping):
        return [("E001", "TIDELINE must be a dict with URL and TOKEN")]
    unknown = sorted(str(key) for key in given if key not in KEYS)
    if unknown:
        return [("E002", f"TIDELINE[{unknown[0]!r}] is no setting; there are {sorted(KEYS)}")]
    return [
        *_faults_of_texts(given),
        *_faults_of_address(given),
        *_faults_of_deadline(given.get("PAGE_DEADLINE_MS", TidelineSettings().page_deadline_ms)),
    ]


def _faults_of_texts(given: Mapping[str, object]) -> list[tuple[str, str]]:
    texts = KEYS - {"PAGE_DEADLINE_MS"}
    wrong = [key for key in sorted(texts & given.keys()) if not isinstance(given[key], str)]
    missing = [key for key in ("URL", "TOKEN") if not given.get(key)]
    return [
        *(("E003", f"TIDELINE[{key!r}] must be a text") for key in wrong),
        *(("E004", f"TIDELINE[{key!r}] is missing") for key in missing if key not in wrong),
    ]


def _faults_of_address(given: Mapping[str, object]) -> list[tuple[str, str]]:
    url = given.get("URL")
    if not isinstance(url, str) or not url:
        return []
    parts = urlsplit(url)
    if parts.scheme in ("http", "https") and parts.netloc:
        return []
    return [("E005", "TIDELINE['URL'] must be an address such as https://feed.example.org")]


def _faults_of_deadline(value: object) -> list[tuple[str, str]]:
    if isinstance(value, int) and LEAST_DEADLINE_MS <= value <= MOST_DEADLINE_MS:
        return []
    text = f"must be a number from {LEAST_DEADLINE_MS} to {MOST_DEADLINE_MS}"
    return [("E006", f"TIDELINE['PAGE_DEADLINE_MS'] {text}")]


def _forget(*, setting: str, **_: object) -> None:
    if setting == "TIDELINE":
        read_settings.cache_clear()


setting_changed.connect(_forget)
