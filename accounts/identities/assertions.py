"""Checks a JWT that says who a person is (RFC 7519, RFC 7523). No store but the issuer's keys."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import msgspec
from jwcrypto.jwk import JWKSet
from jwcrypto.jws import JWS

from accounts.identities.errors import AssertionRefused
from accounts.identities.issuer_keys import keys_of
from accounts.identities.models import LONGEST_SUBJECT, TrustedIssuer
from accounts.identities.types import Assertion

LONGEST = 8_000
# Clocks may differ by so much.
LEEWAY_S = 30
# From `iat` to `exp`. Short: it is used once, at once.
LONGEST_LIFE_S = 600
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
SUBJECT = re.compile(rf"[!-~]{{1,{LONGEST_SUBJECT}}}")
FindKeys = Callable[[str | None], JWKSet]
_decoder = msgspec.json.Decoder(Assertion)


class SignedText(NamedTuple):
    """A JWT whose signature is not checked yet. `payload`: its claims as JSON."""

    signature: JWS
    payload: bytes


def read_jwt(text: str) -> SignedText:
    """Raises: AssertionRefused."""
    if len(text) > LONGEST or not _COMPACT.fullmatch(text):
        raise AssertionRefused("The assertion is not a JWT")
    signature = JWS()
    with _refusing("The assertion cannot be read"):
        signature.deserialize(text)
        return SignedText(signature, signature.objects["payload"])


@contextmanager
def _refusing(text: str) -> Iterator[None]:
    """Before a signature is checked the text is anyone's, and no parser of it may surprise us.

    Raises: AssertionRefused.
    """
    try:
        yield
    except Exception as error:
        raise AssertionRefused(text) from error


def verify_jwt(signed: SignedText, find_keys: FindKeys, algorithms: Sequence[str]) -> None:
    """Raises: AssertionRefused, and as `find_keys` does."""
    with _refusing("The assertion cannot be read"):
        key_id = signed.signature.jose_header.get("kid")
    keys = find_keys(key_id if isinstance(key_id, str) else None)
    signed.signature.allowed_algs = list(algorithms)
    with _refusing("No key of the issuer has signed the assertion"):
        signed.signature.verify(keys)


class UncheckedAssertion:
    """A JWT of an issuer that is not checked yet."""

    def __init__(self, text: str) -> None:
        """Raises: AssertionRefused."""
        self._signed = read_jwt(text)
        with _refusing("The assertion cannot be read: a claim is missing or has another type"):
            self._claims = _decoder.decode(self._signed.payload)
        if not self._claims.iss.isprintable():
            raise AssertionRefused("The issuer is not trusted")

    @property
    def issuer(self) -> str:
        """As it says itself: to find the row whose keys must have signed it."""
        return self._claims.iss

    def check(self, issuer: TrustedIssuer, now_s: float) -> Assertion:
        """The claims, after all checks. Raises: AssertionRefused, KeysUnreadable."""
        verify_jwt(self._signed, partial(keys_of, issuer), issuer.algorithms)
        if fault := _fault_of(self._claims, issuer, now_s):
            raise AssertionRefused(fault)
        return self._claims


def _fault_of(claims: Assertion, issuer: TrustedIssuer, now_s: float) -> str | None:
    audiences = [claims.aud] if isinstance(claims.aud, str) else claims.aud
    faults = {
        "aud is not this site": issuer.audience not in audiences,
        "exp is over": claims.exp <= now_s - LEEWAY_S,
        "iat or nbf is in the future": max(claims.iat, claims.nbf) > now_s + LEEWAY_S,
        f"exp is more than {LONGEST_LIFE_S} s after iat": claims.exp - claims.iat > LONGEST_LIFE_S,
        "sub is no id": not SUBJECT.fullmatch(claims.sub),
        "jti is no id": not SUBJECT.fullmatch(claims.jti),
    }
    return next((text for text, is_so in faults.items() if is_so), None)
