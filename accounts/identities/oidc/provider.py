"""The provider: what its configuration says, and its answers to this client.

A process keeps the configuration (OpenID Connect Discovery 1.0) and reads it again when it is old.
"""

import threading
import time
from http.client import HTTPException
from urllib.parse import quote

import msgspec
import structlog
from django.conf import settings

from accounts.identities.errors import ProviderAway
from accounts.identities.types import ASSERTION_ALGORITHMS
from infra.outgoing.addresses import ForbiddenAddress
from infra.outgoing.requests import get, post_form

ANSWER_S, MOST_BYTES = 3.0, 256 * 1024
FRESH_S = 600.0
NO_ANSWER = (ForbiddenAddress, OSError, HTTPException, ValueError)
log = structlog.get_logger()


class ProviderConfiguration(msgspec.Struct, frozen=True):
    """The parts of the configuration that this client needs."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    id_token_signing_alg_values_supported: list[str] = msgspec.field(
        default_factory=lambda: ["RS256"]
    )

    @property
    def algorithms(self) -> list[str]:
        """Those of its signatures that this site accepts."""
        return [a for a in self.id_token_signing_alg_values_supported if a in ASSERTION_ALGORITHMS]


class TokenAnswer(msgspec.Struct, frozen=True):
    """Of the token endpoint."""

    id_token: str


class _Known:
    configuration: ProviderConfiguration | None = None
    until = 0.0


_reading = threading.Lock()


def get_configuration() -> ProviderConfiguration:
    """Of the provider of the settings. Raises: ProviderAway. Cost: none, or one request."""
    with _reading:
        known = _Known.configuration
        if known is None or time.monotonic() > _Known.until or known.issuer != settings.OIDC_ISSUER:
            known = _Known.configuration = _read()
            _Known.until = time.monotonic() + FRESH_S
        return known


def _read() -> ProviderConfiguration:
    address = f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration"
    try:
        text = get(address, ANSWER_S, MOST_BYTES)
        configuration = msgspec.json.decode(text, type=ProviderConfiguration)
        if configuration.issuer != settings.OIDC_ISSUER:
            raise ValueError(f"the issuer is {configuration.issuer}")
    except NO_ANSWER as error:
        log.warning("oidc.configuration_not_read", error=repr(error))
        raise ProviderAway from None
    return configuration


def exchange_code(code: str, verifier: str, redirect_uri: str) -> str:
    """The ID token for a code, not checked yet. Raises: ProviderAway. Cost: one request."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": verifier,
        "redirect_uri": redirect_uri,
    }
    try:
        text = post_form(get_configuration().token_endpoint, form, _basic(), ANSWER_S, MOST_BYTES)
        return msgspec.json.decode(text, type=TokenAnswer).id_token
    except NO_ANSWER as error:
        log.warning("oidc.code_not_exchanged", error=repr(error))
        raise ProviderAway from None


def _basic() -> tuple[str, str]:
    """RFC 6749, 2.3.1: both parts are encoded as in a form."""
    return quote(settings.OIDC_CLIENT_ID, safe=""), quote(settings.OIDC_CLIENT_SECRET, safe="")
