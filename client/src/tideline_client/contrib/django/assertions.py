"""JWTs that say who a person is: an app of the product gets a token of Tideline for one.

The app sends it to Tideline's `/oauth/token` with
`grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer`.
"""

import json
import time
from typing import Any
from uuid import uuid4

import jwt
from django.core.exceptions import ImproperlyConfigured, PermissionDenied

from tideline_client.contrib.django.profiles import external_id_of
from tideline_client.contrib.django.settings import read_settings

LIFETIME_S = 60


def assertion_for(user: Any) -> str:
    """A JWT of one minute, for one token. Ask who the user is before you call it.

    Raises: PermissionDenied, if the user is not active; ImproperlyConfigured.
    """
    if not user.is_active:
        raise PermissionDenied("This user is not active")
    wanted = read_settings()
    key = _read_key(wanted.need("SIGNING_KEY"))
    claims = _claims_of(user, wanted.need("ISSUER"), wanted.audience or wanted.url)
    return jwt.encode(claims, key.key, key.algorithm_name, headers={"kid": key.key_id})


def _claims_of(user: Any, issuer: str, audience: str) -> dict[str, Any]:
    now = int(time.time())
    profile = read_settings().profile_of(user) or {}
    claims = {
        "iss": issuer,
        "sub": external_id_of(user),
        "aud": audience.rstrip("/"),
        "iat": now,
        "exp": now + LIFETIME_S,
        "jti": uuid4().hex,
        "preferred_username": profile.get("username"),
        "name": profile.get("display_name"),
    }
    return {name: value for name, value in claims.items() if value}


def _read_key(text: str) -> jwt.PyJWK:
    """Raises: ImproperlyConfigured."""
    try:
        key = jwt.PyJWK.from_json(text)
    except (jwt.PyJWTError, json.JSONDecodeError) as error:
        raise ImproperlyConfigured(f"TIDELINE['SIGNING_KEY'] is no JWK: {error}") from error
    if not hasattr(key.key, "private_bytes"):
        raise ImproperlyConfigured("TIDELINE['SIGNING_KEY'] must be a private key")
    return key
