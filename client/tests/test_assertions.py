"""JWTs for the product's people, and the key that signs them."""

import json
import stat

import jwt
import pytest
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.core.management import CommandError, call_command

from tideline_client.contrib.django.assertions import assertion_for

SITE = "https://feed.example.org"


@pytest.fixture
def keys(tmp_path, settings, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call_command("make_tideline_key")
    settings.TIDELINE = settings.TIDELINE | {
        "ISSUER": "https://product.example",
        "SIGNING_KEY": (tmp_path / "tideline-private.json").read_text(),
    }
    return json.loads((tmp_path / "tideline-keys.json").read_text())["keys"]


def claims_in(token, keys):
    return jwt.decode(token, jwt.PyJWK(keys[0]), algorithms=["ES256"], audience=SITE)


def test_a_jwt_says_who_the_user_is(ann, keys):
    token = assertion_for(ann)
    claims = claims_in(token, keys)
    assert (claims["iss"], claims["sub"]) == ("https://product.example", str(ann.pk))
    assert (claims["preferred_username"], claims["name"]) == ("ann", "Ann A.")
    assert claims["exp"] - claims["iat"] == 60
    assert jwt.get_unverified_header(token)["kid"] == keys[0]["kid"]
    assert claims["jti"] != claims_in(assertion_for(ann), keys)["jti"]


def test_an_inactive_user_gets_none(ann, keys):
    ann.is_active = False
    with pytest.raises(PermissionDenied):
        assertion_for(ann)


@pytest.mark.parametrize("key", ["SIGNING_KEY", "ISSUER"])
def test_a_missing_setting_is_named(ann, keys, settings, key):
    settings.TIDELINE = {name: text for name, text in settings.TIDELINE.items() if name != key}
    with pytest.raises(ImproperlyConfigured, match=key):
        assertion_for(ann)


@pytest.mark.parametrize("text", ["x", "{}", '{"kty": "EC"}'])
def test_what_is_no_key_is_named(ann, keys, settings, text):
    settings.TIDELINE = settings.TIDELINE | {"SIGNING_KEY": text}
    with pytest.raises(ImproperlyConfigured, match="is no JWK"):
        assertion_for(ann)


def test_a_public_key_signs_nothing(ann, keys, settings):
    settings.TIDELINE = settings.TIDELINE | {"SIGNING_KEY": json.dumps(keys[0])}
    with pytest.raises(ImproperlyConfigured, match="private"):
        assertion_for(ann)


def test_the_public_file_has_nothing_secret_and_no_file_is_replaced(keys, tmp_path):
    assert "d" not in keys[0]
    private = tmp_path / "tideline-private.json"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    before = private.read_text()
    with pytest.raises(CommandError, match="exists already"):
        call_command("make_tideline_key")
    assert private.read_text() == before
