"""Answers about passkeys that no browser sends: each is refused, and nothing is stored."""

import json

import pytest
from django_otp_webauthn.models import WebAuthnCredential
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.pages.browsing import Browser
from tests.integration.pages.test_second_step import boss, here
from tests.second_steps import PLACE, STEP, add_app, sign_in_by_password

pytestmark = pytest.mark.slow

__all__ = ["boss", "here"]
ID = "AAAA"
RESPONSE = {"clientDataJSON": ID, "attestationObject": ID, "authenticatorData": ID, "signature": ID}
WHOLE = {"id": ID, "rawId": ID, "type": "public-key", "response": RESPONSE}
BROKEN = [
    "x",
    "[]",
    "null",
    "1",
    "{}",
    "{" * 9_000,
    "[" * 9_000,
    '{"a":' * 6_000,
    "x" * 40_000,
    json.dumps(WHOLE),
    json.dumps(WHOLE | {"rawId": "%"}),
    json.dumps(WHOLE | {"response": RESPONSE | {"userHandle": "é"}}),
    json.dumps(WHOLE | {"clientExtensionResults": 1}),
    json.dumps(WHOLE | {"id": "\ud800"}),
    json.dumps(WHOLE | {"authenticatorAttachment": "x"}),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*WHOLE, *RESPONSE]), inner)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("answer", BROKEN)
def test_none_is_added(here: Browser, answer: str) -> None:
    here.read(f"{PLACE}/passkey")
    refused = here.send(f"{PLACE}/passkey", {"passkey": answer, "name": "x" * 99})
    assert refused.status_code == 422 and b'role="alert"' in refused.content
    assert not WebAuthnCredential.objects.exists()


def test_without_a_question_none_is_added(here: Browser) -> None:
    assert here.send(f"{PLACE}/passkey", {"passkey": json.dumps(WHOLE)}).status_code == 422


@pytest.mark.parametrize("answer", BROKEN)
def test_none_signs_in(here: Browser, answer: str) -> None:
    add_app(here)
    browser = sign_in_by_password("boss")
    refused = browser.send(STEP, {"passkey": answer})
    assert refused.status_code == 422 and b'role="alert"' in refused.content
    assert browser.client.get("/settings").status_code == 302


@given(answer=VALUES)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_json_is_an_error_of_the_server(here: Browser, answer: object) -> None:
    here.read(f"{PLACE}/passkey")
    assert here.send(f"{PLACE}/passkey", {"passkey": json.dumps(answer)}).status_code in (422, 429)
