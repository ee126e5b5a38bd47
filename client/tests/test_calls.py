"""One call: what is sent, and what comes back."""

import json

import httpx
import pytest

from site_double import ACCOUNT, BOUND, RELATIONSHIP, STATUS, SiteDouble, ok, refused
from tideline_client import (
    AsyncTideline,
    NotFound,
    Tideline,
    UnexpectedAnswer,
    awaiting,
    blocking,
    models,
)


def test_a_service_acts_for_an_account():
    site = SiteDouble(ok(STATUS))
    status = site.client().acting_for("42").statuses.create("Hello", visibility="public")
    [request] = site.asked
    assert (request.method, request.url.path) == ("POST", "/api/v1/statuses")
    assert request.headers["Authorization"] == "Bearer token"
    assert request.headers["Tideline-Account"] == "42"
    assert site.bodies() == [{"status": "Hello", "visibility": "public"}]
    assert isinstance(status, models.Status)
    assert (status.account.acct, status.created_at.year) == ("ann", 2026)


def test_a_post_has_a_type_and_data_of_the_product():
    recipe = {"minutes": 40, "steps": [{"do": "stir"}]}
    declared = {"name": "recipe.cooked", "words": {"en": "cooked"}}
    typed = STATUS | {"type": "recipe.cooked", "custom": recipe}
    site = SiteDouble(ok(declared), ok(typed), ok(STATUS))
    client = site.client()
    assert client.post_types.declare("recipe.cooked", {"en": "cooked"}).words == {"en": "cooked"}
    calls = client.acting_for("42").statuses
    made = calls.create("Soup", type="recipe.cooked", custom=recipe)
    assert (made.type, made.custom) == ("recipe.cooked", recipe)
    plain = calls.get("1")
    assert (plain.type, plain.custom) == (None, None)
    assert json.loads(site.asked[1].content) == {
        "status": "Soup",
        "type": "recipe.cooked",
        "custom": recipe,
    }
    assert site.asked[0].url.path == "/api/v1/services/post_types/recipe.cooked"


@pytest.mark.parametrize(
    ("calls", "door"), [(blocking, Tideline("http://x")), (awaiting, AsyncTideline("http://x"))]
)
def test_each_group_of_calls_has_its_place(calls, door):
    """Also that of the next endpoints: `Tideline` names the groups of services itself."""
    groups = [each for name, each in vars(calls).items() if name.endswith("Calls")]
    assert len(groups) > 20
    places = [door, *vars(door).values()]
    assert [g for g in groups if not any(isinstance(each, g) for each in places)] == []


def test_a_post_has_reactions():
    declared = {"name": "clap", "words": {"en": "claps"}, "notifies": True}
    clapped = STATUS | {"reactions": [{"name": "clap", "count": 2, "me": True}]}
    site = SiteDouble(ok(declared), ok(clapped), ok(STATUS))
    client = site.client()
    assert client.reactions.declare("clap", {"en": "claps"}).name == "clap"
    statuses = client.acting_for("42").statuses
    [reaction] = statuses.react("1", "clap").reactions
    assert (reaction.name, reaction.count, reaction.me) == ("clap", 2, True)
    assert statuses.unreact("1", "clap").reactions is None
    paths = [request.url.path for request in site.asked]
    assert paths[1:] == ["/api/v1/statuses/1/react/clap", "/api/v1/statuses/1/unreact/clap"]


def test_the_service_itself_names_no_account():
    site = SiteDouble(ok(BOUND | {"created": True}))
    made = site.client().provisioning.put("auth0|1/2", username="ann", locked=False)
    [request] = site.asked
    assert request.url.raw_path == b"/api/v1/services/accounts/auth0%7C1%2F2"
    assert "Tideline-Account" not in request.headers
    assert site.bodies() == [{"username": "ann", "locked": False}]
    assert (made.account_id, made.created) == ("42", True)


@pytest.mark.parametrize("wrong", [".", ".."])
def test_an_id_leads_to_no_other_address(wrong):
    """Products take ids from their own forms. `lists/../accounts` would be another call."""
    site = SiteDouble(ok({}))
    with pytest.raises(NotFound):
        site.client().lists.delete(wrong)
    assert site.asked == []


def test_acting_by_the_id_of_the_product():
    site = SiteDouble(ok(BOUND), ok([]))
    site.client().acting_for_external_id("1").timelines.home().first()
    assert site.asked[1].headers["Tideline-Account"] == "42"


def test_parameters_are_written_as_the_api_has_them():
    site = SiteDouble(ok([RELATIONSHIP]))
    site.client().accounts.relationships(ids=["9", "10"])
    assert site.asked[0].url.query == b"id%5B%5D=9&id%5B%5D=10"
    site = SiteDouble(ok([]))
    site.client().accounts.statuses("9", exclude_replies=True, limit=5).first()
    assert dict(site.asked[0].url.params) == {"exclude_replies": "true", "limit": "5"}


def test_an_image_is_sent_as_a_form():
    site = SiteDouble(refused(422))
    with pytest.raises(Exception, match="422"):
        site.client().media.upload(b"\x89PNG", description="A tide")
    content = site.asked[0].read()
    assert site.asked[0].headers["Content-Type"].startswith("multipart/form-data")
    assert b"\x89PNG" in content
    assert b"A tide" in content


def test_fields_of_a_newer_tideline_are_ignored():
    answer = ACCOUNT | {"new_field": 1}
    assert SiteDouble(ok(answer)).client().accounts.get("42").id == "42"


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, content=b"\xff"),
        ok({"id": 42}),
        ok([]),
        httpx.Response(302, headers={"Location": "https://elsewhere.example"}),
    ],
)
def test_what_is_no_answer_of_tideline_says_so(answer):
    site = SiteDouble(answer)
    with pytest.raises(UnexpectedAnswer) as caught:
        site.client().accounts.get("42")
    assert caught.value.request_id == site.asked[0].headers["X-Request-Id"]
    assert len(site.asked) == 1


@pytest.mark.parametrize("url", ["", "feed.example.org", "ftp://feed.example.org", "https://"])
def test_a_wrong_address_is_refused_at_once(url):
    with pytest.raises(ValueError, match="address"):
        Tideline(url, "token")


@pytest.mark.parametrize("options", [{"deadline_ms": 0}, {"deadline_ms": 600_001}, {"retries": -1}])
def test_wrong_patience_is_refused_at_once(options):
    with pytest.raises(ValueError, match="must be"):
        Tideline("https://feed.example.org", **options)


def test_it_closes_only_the_connections_that_it_made():
    http = httpx.Client()
    with Tideline("https://feed.example.org", http=http):
        pass
    assert not http.is_closed
    http.close()
    with Tideline("https://feed.example.org") as client:
        client.with_patience(deadline_ms=10).close()
        assert not client._connection.http.is_closed
    assert client._connection.http.is_closed
