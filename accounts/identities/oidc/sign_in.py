"""The two steps of signing in: to the provider, and back with a code (OpenID Connect Core 1.0).

The code flow, with PKCE, a state and a nonce. All three are in a cookie of the browser that began.
"""

import secrets
import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from urllib.parse import urlencode

import msgspec
import structlog
from django.conf import settings
from django.utils.crypto import constant_time_compare

from accounts.identities.assertions import LEEWAY_S, SUBJECT, read_jwt, verify_jwt
from accounts.identities.errors import AssertionRefused, SignInFailed
from accounts.identities.issuer_keys import keys_at
from accounts.identities.oidc.provider import exchange_code, get_configuration

CALLBACK = "/auth/oidc/callback"
SCOPES = "openid profile"
_RANDOM_BYTES = 32
log = structlog.get_logger()


class BegunSignIn(msgspec.Struct, frozen=True):
    """What the browser keeps until it comes back."""

    state: str
    nonce: str
    verifier: str
    next: str


class OidcPerson(msgspec.Struct, frozen=True):
    """The claims of an ID token. Times: Unix seconds."""

    iss: str
    sub: str
    aud: str | list[str]
    exp: float
    iat: float
    nonce: str = ""
    azp: str | None = None
    preferred_username: str = ""
    name: str = ""


def begin_sign_in(next_page: str) -> tuple[str, BegunSignIn]:
    """The address at the provider, and what the browser keeps. Raises: ProviderAway."""
    state, nonce, verifier = (secrets.token_urlsafe(_RANDOM_BYTES) for _ in range(3))
    begun = BegunSignIn(state, nonce, verifier, next_page)
    challenge = sha256(verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": settings.OIDC_CLIENT_ID,
        "redirect_uri": _redirect_uri(),
        "scope": SCOPES,
        "state": state,
        "nonce": nonce,
        "code_challenge": urlsafe_b64encode(challenge).decode().rstrip("="),
        "code_challenge_method": "S256",
    }
    endpoint = get_configuration().authorization_endpoint
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}", begun


def finish_sign_in(begun: BegunSignIn, state: str, code: str) -> OidcPerson:
    """Who came back. Raises: SignInFailed, ProviderAway, KeysUnreadable. Cost: one request."""
    if not code or not constant_time_compare(state, begun.state):
        raise SignInFailed
    text = exchange_code(code, begun.verifier, _redirect_uri())
    try:
        return _check(text, begun.nonce, time.time())
    except (AssertionRefused, msgspec.MsgspecError) as error:
        log.warning("oidc.id_token_refused", error=str(error))
        raise SignInFailed from None


def _check(text: str, nonce: str, now_s: float) -> OidcPerson:
    """The claims of an ID token (Core, 3.1.3.7). Raises: AssertionRefused, MsgspecError, …"""
    provider, signed = get_configuration(), read_jwt(text)
    verify_jwt(signed, keys_at(provider.jwks_uri).find, provider.algorithms)
    person = msgspec.json.decode(signed.payload, type=OidcPerson)
    if fault := _fault_of(person, nonce, now_s):
        raise AssertionRefused(fault)
    return person


def _fault_of(person: OidcPerson, nonce: str, now_s: float) -> str | None:
    me = settings.OIDC_CLIENT_ID
    audiences = [person.aud] if isinstance(person.aud, str) else person.aud
    faults = {
        "iss is another one": person.iss != settings.OIDC_ISSUER,
        "aud is another client": me not in audiences,
        "azp is another client": len(audiences) > 1 and person.azp != me,
        "exp is over": person.exp <= now_s - LEEWAY_S,
        "iat is in the future": person.iat > now_s + LEEWAY_S,
        "nonce is another one": not constant_time_compare(person.nonce, nonce),
        "sub is no id": not SUBJECT.fullmatch(person.sub),
    }
    return next((text for text, is_so in faults.items() if is_so), None)


def _redirect_uri() -> str:
    return f"{settings.PUBLIC_URL}{CALLBACK}"
