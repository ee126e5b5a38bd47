"""CORS: the API is open to scripts of any page, and nothing else is."""

import pytest
from django.test import Client

from tests.callers import token_of
from tests.world import make_account

ORIGIN = {"Origin": "https://reader.example"}
ASKING = ORIGIN | {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization, content-type",
}


def test_a_script_reads_the_api_and_what_pages_need_to_know(world: None):
    token = token_of(make_account())
    headers = ORIGIN | {"Authorization": f"Bearer {token}"}
    answer = Client().get("/api/v1/timelines/home", headers=headers)
    assert answer.status_code == 200
    assert answer["Access-Control-Allow-Origin"] == "*"
    exposed = answer["Access-Control-Expose-Headers"].split(", ")
    assert {"Link", "X-RateLimit-Remaining", "X-Request-Id"} <= {*exposed}
    assert not answer.has_header("Access-Control-Allow-Credentials")


@pytest.mark.parametrize("path", ["/api/v1/timelines/home", "/api/v1/nothing", "/oauth/token"])
def test_errors_can_be_read_too(world: None, path: str):
    answer = Client().get(path, headers=ORIGIN)
    assert answer.status_code >= 400
    assert answer["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("path", ["/api/v1/statuses", "/oauth/token", "/oauth/revoke"])
def test_a_browser_is_told_beforehand_and_needs_no_token_for_it(world: None, path: str):
    answer = Client().options(path, headers=ASKING)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "POST" in answer["Access-Control-Allow-Methods"]
    assert answer["Access-Control-Allow-Headers"] == "authorization, content-type"


@pytest.mark.parametrize(
    "path", ["/admin/", "/auth/sign_in", "/oauth/authorize", "/health/live", "/metrics", "/"]
)
def test_pages_and_the_inside_are_closed(world: None, path: str):
    for answer in [Client().get(path, headers=ORIGIN), Client().options(path, headers=ASKING)]:
        assert not [name for name in answer.headers if name.startswith("Access-Control-")]


def test_who_is_of_no_other_origin_is_told_nothing(world: None):
    assert not Client().get("/api/v1/instance").has_header("Access-Control-Allow-Origin")
