"""JWTs of a trusted product become tokens: once each, for the account of their subject."""

import base64
import json
import time
from contextlib import suppress
from io import StringIO

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from jwcrypto.jwk import JWK, JWKSet

from accounts.cache import drop_actor
from accounts.identities import issuer_keys
from accounts.identities.actions import exchange_assertion
from accounts.identities.assertions import UncheckedAssertion, read_jwt, verify_jwt
from accounts.identities.errors import AssertionRefused
from accounts.identities.models import ExternalIdentity, TrustedIssuer, UsedAssertion
from accounts.models import AccessToken, User
from accounts.oauth_parameters import JWT_BEARER
from accounts.types import Restriction
from infra.api.errors import ValidationFailed
from tests.callers import token_of
from tests.integration.integrations.product import ISSUER, Product, key_server, new_key
from tests.integration.integrations.services import Service
from tests.races import run_together
from tests.sign_ups import bearer
from tests.world import make_account, restrict

KEYS = JWKSet()
MINE = "/api/v1/accounts/verify_credentials"


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A crowded machine is not an address that hangs."""
    monkeypatch.setattr(issuer_keys, "FETCH_S", 60.0)


@pytest.fixture
def product(world):
    product = Product()
    product.trust(may_create=True)
    return product


def exchange(assertion, **more):
    form = {"grant_type": JWT_BEARER, "assertion": assertion} | more
    return Client().post("/oauth/token", form)


def token_for(product, subject="u1", **claims):
    answer = exchange(product.sign(subject, **{"preferred_username": subject} | claims))
    assert answer.status_code == 200, answer.content
    return answer.json()


def assert_no_token(answer, error="invalid_grant", text=""):
    assert answer.status_code == 400, answer.content
    assert answer.json()["error"] == error
    assert text in answer.json()["error_description"]
    assert not AccessToken.objects.exists()


def part(value):
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


HEADERS = [
    {"alg": "ES256", "crit": crit}
    for crit in ([], ["exp"], "exp", [{}], [None], {"exp": 1}, 1, None, ["b64"], ["kid", "kid"])
] + [{"alg": alg} for alg in ("none", "", None, 1, [], {}, "HS256", "\0", "RSA1_5")] + [
    {"alg": "ES256", **more}
    for more in ({"kid": {}}, {"kid": "\0"}, {"b64": False, "crit": ["b64"]}, {"b64": 1})
] + [[], None, "x", 1]  # fmt: skip
ISSUERS = ["\0", ISSUER + "\0", "\ud800", "x" * 6_000, "", 1, None, [ISSUER], {"a": 1}]


@pytest.mark.parametrize("header", HEADERS, ids=repr)
def test_what_no_one_signed_is_refused_whatever_its_header_says(product, header):
    now = int(time.time())
    claims = {"iss": ISSUER, "sub": "u1", "aud": "x", "exp": now + 60, "iat": now, "jti": "1"}
    assert_no_token(exchange(f"{part(header)}.{part(claims)}.AAAA"))


@pytest.mark.parametrize("issuer", ISSUERS, ids=lambda issuer: repr(issuer)[:20])
def test_what_no_one_signed_is_refused_whatever_its_issuer_is(product, issuer):
    claims = {"iss": issuer, "sub": "u1", "aud": "x", "exp": 1, "iat": 1, "jti": "1"}
    sent = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    assert_no_token(exchange(f"{part({'alg': 'ES256'})}.{sent}.AAAA"))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)  # fmt: skip
NAMES = ("iss", "sub", "aud", "exp", "iat", "jti", "nbf", "name", "preferred_username")


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    header=st.dictionaries(st.sampled_from(("alg", "kid", "crit", "b64", "jwk")), JSON_VALUES),
    claims=st.dictionaries(st.sampled_from(NAMES), JSON_VALUES),
    signature=st.binary(max_size=70),
)  # fmt: skip
def test_nothing_but_a_refusal_comes_of_a_text_that_no_one_signed(header, claims, signature):
    sent = (json.dumps({"alg": "ES256"} | header), json.dumps({"iss": "x"} | claims))
    parts = tuple(base64.urlsafe_b64encode(one.encode()).rstrip(b"=") for one in sent)
    end = base64.urlsafe_b64encode(signature).rstrip(b"=")
    with pytest.raises(AssertionRefused):
        verify_jwt(read_jwt(b".".join((*parts, end)).decode()), lambda _: KEYS, ["ES256"])
    with suppress(AssertionRefused):
        UncheckedAssertion(b".".join((*parts, end)).decode())


def test_a_jwt_gives_a_token_of_an_hour(product):
    token = token_for(product, name="Ann A.")
    assert (token["token_type"], token["scope"], token["expires_in"]) == (
        "Bearer", "read write", 3_600,
    )  # fmt: skip
    me = Client().get(MINE, **bearer(token["access_token"])).json()
    assert (me["username"], me["display_name"]) == ("u1", "Ann A.")
    sent = {"status": "hello"}
    made = Client().post("/api/v1/statuses", sent, **bearer(token["access_token"])).json()
    assert made["application"]["name"] == "Product"


def test_the_same_subject_is_the_same_account_also_for_services(product):
    first, second = token_for(product), token_for(product)
    assert first["access_token"] != second["access_token"]
    assert User.objects.count() == 1
    service = Service("service:accounts")
    service.put("/api/v1/services/accounts/u2", {"username": "ben"})
    ben = token_for(product, "u2", preferred_username="other")
    me = Client().get(MINE, **bearer(ben["access_token"])).json()
    assert me["username"] == "ben"
    assert service.get("/api/v1/services/accounts/u1").json()["username"] == "u1"


def test_an_issuer_with_subjects_of_its_own_means_other_people(product):
    token_for(product)
    other = Product("https://other.example")
    other.trust(may_create=True, has_own_ids=False)
    token_for(other, preferred_username="another")
    identities = ExternalIdentity.objects.order_by("id").values_list("issuer", "subject")
    assert list(identities) == [("", "u1"), ("https://other.example", "u1")]
    assert User.objects.count() == 2


def test_a_jwt_is_used_once(product):
    assertion = product.sign("u1", preferred_username="u1")
    answers = run_together([lambda: exchange(assertion)] * 4)
    assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]
    assert exchange(assertion).json()["error_description"] == "The assertion was used before"
    assert AccessToken.objects.filter(user__isnull=False).count() == 1


def test_used_ones_and_ended_tokens_are_deleted_in_time(product):
    for _ in range(3):
        token_for(product)
    long_ago = "2020-01-01T00:00:00Z"
    UsedAssertion.objects.update(expires_at=long_ago)
    AccessToken.objects.update(expires=long_ago)
    token_for(product)
    assert UsedAssertion.objects.count() == 2
    assert AccessToken.objects.count() == 1


def test_many_tokens_of_a_product_end_no_other_session(product, monkeypatch):
    monkeypatch.setattr(exchange_assertion, "MOST_TOKENS", 2)
    tokens = [token_for(product) for _ in range(2)]
    other = bearer(token_of(User.objects.get().pk))
    tokens.append(token_for(product))
    asked = [Client().get(MINE, **bearer(token["access_token"])) for token in tokens]
    assert [answer.status_code for answer in asked] == [401, 200, 200]
    assert Client().get(MINE, **other).status_code == 200


def test_a_name_that_no_database_holds_is_cleaned(product):
    token = token_for(product, name=" A\x00nn ")
    me = Client().get(MINE, **bearer(token["access_token"])).json()
    assert me["display_name"] == "Ann"


NOW = int(time.time())
WRONG = {
    "another audience": {"aud": "https://elsewhere.example"},
    "no audience": {"aud": None},
    "audiences of others": {"aud": ["a", "b"]},
    "over": {"iat": NOW - 200, "exp": NOW - 100},
    "no end": {"exp": None},
    "too long": {"exp": NOW + 86_400},
    "of the future": {"iat": NOW + 3_000, "exp": NOW + 3_300},
    "not yet": {"nbf": NOW + 3_000},
    "no start": {"iat": None},
    "no id": {"jti": None},
    "an empty id": {"jti": ""},
    "a long id": {"jti": "x" * 256},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a long subject": {"sub": "x" * 256},
    "a subject that is a number": {"sub": 5},
    "a subject with a blank": {"sub": "a b"},
    "another issuer": {"iss": "https://elsewhere.example"},
    "times that are texts": {"exp": "tomorrow"},
    "infinite": {"exp": 1e400},
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG)
def test_wrong_claims_give_no_token(product, claims):
    subject = claims.pop("sub", "u1") if "sub" in claims else "u1"
    assertion = product.sign(subject, **{"preferred_username": "u1"} | claims)
    assert_no_token(exchange(assertion))
    assert not User.objects.exists()


def test_wrong_signatures_give_no_token(product):
    stranger, good = new_key(), product.sign("u1", preferred_username="u1")
    head, body, signature = good.split(".")
    swapped = product.sign("u2", preferred_username="u2").split(".")[1]
    unsigned = "eyJhbGciOiJub25lIn0"  # {"alg":"none"}
    for text in (
        product.sign("u1", key=stranger),
        product.sign("u1", key=stranger, header={"kid": product.keys[0]["kid"]}),
        f"{head}.{swapped}.{signature}",
        f"{unsigned}.{body}.",
        f"{unsigned}.{body}.{signature}",
        f"{head}.{body}.",
        f"{head}.{body}",
        "x.y.z",
        "",
        good + "\u00e9",
        "a" * 9_000,
        '{"payload": "x", "signature": "y"}',
    ):
        assert_no_token(exchange(text))


def test_the_public_key_is_no_secret_of_an_hmac(product):
    """The classical attack: a JWT that names HS256, signed with the public key as the secret."""
    public = product.keys[0].export_to_pem().decode()
    forged = JWK.from_password(public)
    forged["kid"] = product.keys[0]["kid"]
    assert_no_token(exchange(product.sign("u1", key=forged, header={"alg": "HS256"})))
    rsa = new_key("RS256")
    product.keys.append(rsa)
    product.trust(may_create=True)  # with this key, but not with its algorithm
    assert_no_token(exchange(product.sign("u1", header={"alg": "RS256"})))


@pytest.mark.parametrize("algorithm", ["RS256", "EdDSA"])
def test_other_algorithms_that_the_issuer_has(product, algorithm):
    product.keys = [new_key(algorithm)]
    product.trust(may_create=True, algorithms=[algorithm])
    token_for(product, header={"alg": algorithm})


def test_accounts_are_only_created_where_the_operator_allows_it(product):
    product.trust()
    assert_no_token(exchange(product.sign("u1", preferred_username="u1")), text="creates none")
    product.trust(may_create=True)
    assert_no_token(exchange(product.sign("u1")), text="preferred_username")
    make_account("taken")
    answer = exchange(product.sign("u1", preferred_username="Taken"))
    assert_no_token(answer, text="taken")
    assert not ExternalIdentity.objects.exists()


def test_an_address_binds_nothing(product):
    User.objects.filter(pk=make_account("ann")).update(email="ann@example.org")
    token = token_for(product, email="ann@example.org", email_verified=True)
    assert Client().get(MINE, **bearer(token["access_token"])).json()["username"] == "u1"


def test_a_suspended_account_and_staff_get_no_token(product):
    service = Service("service:accounts")
    made = service.put("/api/v1/services/accounts/u1", {"username": "u1"}).json()
    AccessToken.objects.all().delete()
    restrict(int(made["account_id"]), Restriction.SUSPENDED)
    assert_no_token(exchange(product.sign("u1")), text="disabled")
    restrict(int(made["account_id"]), Restriction.NONE)
    User.objects.filter(pk=made["account_id"]).update(is_staff=True)
    drop_actor(int(made["account_id"]))
    assert_no_token(exchange(product.sign("u1")), text="moderators")


def test_scopes_are_those_of_the_issuer(product):
    asked = product.sign("u1", preferred_username="u1")
    assert exchange(asked, scope="read:statuses write").json()["scope"] == "read:statuses write"
    for scope in ("push", "read service:write", "admin"):
        answer = exchange(product.sign("u1"), scope=scope)
        assert answer.json()["error"] == "invalid_scope"


def test_a_client_does_not_prove_itself(product):
    answer = exchange(product.sign("u1"), client_id="x")
    assert_no_token(answer, "invalid_request")


def test_keys_at_an_address_rotate(world, settings, monkeypatch):
    settings.PUSH_PRIVATE_ADDRESSES = True
    monkeypatch.setattr(issuer_keys, "RETRY_S", 0.0)
    product = Product()
    with key_server() as server:
        server.document = product.jwk_set.encode()
        product.trust(keys=None, keys_url=server.url, may_create=True)
        token_for(product)
        token_for(product)
        assert server.asked == 1
        product.rotate()
        server.document = product.jwk_set.encode()
        token_for(product)
        assert server.asked == 2
        server.status = 500
        token_for(product)  # known keys go on
        AccessToken.objects.all().delete()
        stranger = new_key()
        assert_no_token(exchange(product.sign("u1", key=stranger)))
        monkeypatch.setattr(issuer_keys, "RETRY_S", 60.0)
        before = server.asked
        for _ in range(3):
            assert_no_token(exchange(product.sign("u1", key=stranger)))
        assert server.asked == before, "a stranger makes us ask the issuer"


@pytest.mark.parametrize("document", [b"", b"{}", b'{"keys": []}', b"[1]", b"x" * 300_000])
def test_without_readable_keys_it_is_unavailable(world, settings, document):
    settings.PUSH_PRIVATE_ADDRESSES = True
    product = Product()
    with key_server() as server:
        server.document = document
        product.trust(keys=None, keys_url=server.url)
        answer = exchange(product.sign("u1"))
    assert answer.status_code == 503
    assert answer["Retry-After"] == "10"


def test_keys_are_not_read_from_a_private_network(world, settings):
    product = Product()
    settings.PUSH_PRIVATE_ADDRESSES = True
    with key_server() as server:
        server.document = product.jwk_set.encode()
        product.trust(keys=None, keys_url=server.url)
        settings.PUSH_PRIVATE_ADDRESSES = False
        assert exchange(product.sign("u1")).status_code == 503
        assert server.asked == 0
        with pytest.raises(ValidationFailed):
            product.trust(keys=None, keys_url="https://127.0.0.1/keys")


@pytest.mark.parametrize(
    "options",
    [
        {"algorithms": ["HS256"]},
        {"algorithms": ["none"]},
        {"algorithms": []},
        {"keys": "x"},
        {"keys": '{"keys": []}'},
        {"keys": orjson.dumps({"keys": [new_key().export(as_dict=True)]}).decode()},
        {"keys": orjson.dumps({"keys": [new_key("HS256").export(as_dict=True)]}).decode()},
        {"keys": None, "keys_url": "ftp://x"},
        {"scopes": ["service:write"]},
        {"name": " "},
        {"issuer": ""},
    ],
)
def test_what_is_no_issuer_is_not_trusted(world, options):
    with pytest.raises(ValidationFailed):
        Product().trust(**options)
    assert not TrustedIssuer.objects.exists()


def test_the_commands(world, tmp_path):
    product, file = Product(), tmp_path / "keys.json"
    file.write_text(product.jwk_set)
    words = ["--name", "Product", "--keys", str(file), "--algorithm", "ES256"]
    for _ in range(2):
        call_command("issuers", "trust", ISSUER, *words, "--create-accounts")
    token = token_for(product)
    out = StringIO()
    call_command("issuers", "distrust", ISSUER, stdout=out)
    assert out.getvalue() == "1 tokens ended\n"
    assert Client().get(MINE, **bearer(token["access_token"])).status_code == 401
    assert_no_token(exchange(product.sign("u1")), text="not trusted")
    for wrong in (
        ["issuers", "distrust", ISSUER],
        ["issuers", "trust", ISSUER, *words[:3], "/nothing"],
    ):
        with pytest.raises(CommandError):
            call_command(*wrong, *(["--algorithm", "ES256"] if len(wrong) > 2 else []))
