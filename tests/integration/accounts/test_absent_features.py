"""Features that do not exist here answer as of a Mastodon server without them."""

from django.test import Client

from tests.callers import Caller
from tests.world import make_account

FOR_ALL = (
    "/api/v1/custom_emojis",
    "/api/v1/trends/links",
    "/api/v1/instance/peers",
)
FOR_USERS = ("/api/v1/announcements", "/api/v1/domain_blocks")
MISSING = (
    "/api/v1/instance/domain_blocks",
    "/api/v1/instance/terms_of_service",
)


def test_everybody_reads_an_empty_list(world: None, client: Client) -> None:
    for path in FOR_ALL:
        assert client.get(path).json() == [], path


def test_a_user_reads_an_empty_list(world: None) -> None:
    for path in FOR_USERS:
        assert Caller(make_account()).get(path).json() == [], path


def test_nothing_is_found_where_a_server_may_have_nothing(world: None) -> None:
    for path in MISSING:
        answer = Caller(make_account()).get(path)
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"}), path


def test_what_cannot_be_done_is_refused(world: None) -> None:
    ann = Caller(make_account())
    refused = ann.post("/api/v1/domain_blocks", {"domain": "example.org"})
    assert refused.status_code == 403
    assert "does not federate" in refused.json()["error"]
    assert ann.delete("/api/v1/domain_blocks").json() == {}
    assert ann.post("/api/v1/announcements/1/dismiss").status_code == 404
    confirmed = ann.post("/api/v1/emails/confirmations", {"email": "new@example.org"})
    assert (confirmed.status_code, "awaiting" in confirmed.json()["error"]) == (403, True)


def test_the_parts_of_the_site_that_are_not_lists(world: None, client: Client) -> None:
    languages = client.get("/api/v1/instance/languages").json()
    assert {"code": "en", "name": "English"} in languages
    assert {"code": "de", "name": "German"} in languages
    assert all(one["code"].isalpha() for one in languages)
    assert client.get("/api/v1/instance/translation_languages").json() == {}
