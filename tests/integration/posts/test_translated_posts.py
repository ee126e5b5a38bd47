"""Posts in another language, by a real server that translates, hangs or is away."""

import time
from collections.abc import Iterator
from functools import partial

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.api import quotas
from infra.caching.client import redis
from posts.translation import service as module
from posts.translation.service import MOST_AT_ONCE, forget_service
from relations.actions.block import block
from tests.callers import Caller, assert_refused
from tests.people import cast
from tests.pictures import picture, upload
from tests.races import run_together
from tests.translator import Translator, translator
from tests.waiting import until
from tests.world import publish

STATUSES = "/api/v1/statuses"
LANGUAGES = "/api/v1/instance/translation_languages"


people = cast(2)


@pytest.fixture
def service(settings: Settings) -> Iterator[Translator]:
    forget_service()
    with translator() as made:
        settings.TRANSLATION_URL, settings.TRANSLATION_KEY = made.url, "secret"
        yield made
    forget_service()


def translate(caller: Caller, post_id: str, **sent: str):
    return caller.post(f"{STATUSES}/{post_id}/translate", sent)


def test_without_a_service_there_is_nothing(me: Caller, people: list[int]) -> None:
    assert_refused(translate(me, publish(people[1]).public, lang="de"), 404)
    assert Client().get(LANGUAGES).json() == {}
    instance = Client().get("/api/v2/instance").json()
    assert instance["configuration"]["translation"] == {"enabled": False}


def test_all_texts_of_a_post_are_translated(me: Caller, service: Translator) -> None:
    instance = Client().get("/api/v2/instance").json()
    assert instance["configuration"]["translation"] == {"enabled": True}
    assert Client().get(LANGUAGES).json() == {"en": ["de"], "de": ["en"], "und": ["de", "en"]}
    image = me.client.post("/api/v2/media", {"file": upload(picture()), "description": "lake"})
    sent = {"status": "hello <b> world", "spoiler_text": "beware", "language": "en"}
    pictured = me.post(STATUSES, sent | {"media_ids": [image.json()["id"]]}).json()["id"]
    made = translate(me, pictured, lang="de-AT").json()
    assert made == {
        "content": "<p>olleh &gt;b&lt; dlrow</p>", "spoiler_text": "eraweb", "language": "de",
        "poll": None, "media_attachments": [{"id": image.json()["id"], "description": "ekal"}],
        "detected_source_language": "en", "provider": "LibreTranslate",
    }  # fmt: skip
    assert service.asked[0] == {
        "q": ["hello <b> world", "beware", "lake"], "source": "en", "target": "de",
        "format": "text", "api_key": "secret",
    }  # fmt: skip
    poll = {"options": ["tea", "milk"], "expires_in": 600}
    asked = me.post(STATUSES, {"status": "which?", "poll": poll}).json()["id"]
    made = translate(me, asked, lang="de").json()
    assert made["poll"] == {"id": asked, "options": [{"title": "aet"}, {"title": "klim"}]}
    assert (service.asked[1]["source"], made["detected_source_language"]) == ("auto", "en")


def test_what_the_service_writes_is_no_markup(me: Caller, service: Translator) -> None:
    post = me.post(STATUSES, {"status": "hi", "language": "en"}).json()["id"]
    service.body = b'{"translatedText":["<script>x</script> https://a.example"]}'
    content = translate(me, post, lang="de").json()["content"]
    assert "<script" not in content and "&lt;script&gt;" in content
    assert 'href="https://a.example"' in content


def test_a_text_is_translated_once_and_an_edit_again(
    me: Caller, people: list[int], service: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Caller(people[1])
    post = me.post(STATUSES, {"status": "one", "language": "en"}).json()["id"]
    repost = other.post(f"{STATUSES}/{post}/reblog").json()["id"]
    for caller, post_id in ((me, post), (other, post), (me, repost)):
        assert translate(caller, post_id, lang="de").json()["content"] == "<p>eno</p>"
    assert len(service.asked) == 1
    me.put(f"{STATUSES}/{post}", {"status": "two", "language": "en"})
    assert translate(me, post, lang="de").json()["content"] == "<p>owt</p>"
    redis().call("FLUSHDB")
    assert translate(me, post, lang="de").json()["content"] == "<p>owt</p>"
    assert len(service.asked) == 3
    monkeypatch.setattr(quotas.TRANSLATIONS, "_most", 0)
    assert translate(me, post, lang="de").status_code == 200
    me.put(f"{STATUSES}/{post}", {"status": "three", "language": "en"})
    assert_refused(translate(me, post, lang="de"), 429)


def test_only_what_everybody_may_read_and_the_viewer_sees(
    me: Caller, people: list[int], service: Translator
) -> None:
    codes = {}
    for visibility in ("public", "unlisted", "private", "direct"):
        post = me.post(STATUSES, {"status": "one", "visibility": visibility}).json()["id"]
        codes[visibility] = translate(me, post, lang="de").status_code
    assert codes == {"public": 200, "unlisted": 200, "private": 403, "direct": 403}
    post = publish(people[0]).public
    assert Client().post(f"{STATUSES}/{post}/translate").status_code == 401
    for sent in ({"lang": "tlh"}, {"lang": "x" * 99}):
        assert_refused(translate(me, post, **sent), 422)
    block(people[0], people[1])
    assert_refused(translate(Caller(people[1]), post, lang="de"), 404)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'{"translatedText":["a","b"]}',
        b'{"translatedText":[1]}',
        b"x" * 600_000,
        b'{"translatedText":["%b"]}' % (b"#a " * 10_000),
    ],
)
def test_a_strange_answer_is_503(me: Caller, service: Translator, body: bytes) -> None:
    post = me.post(STATUSES, {"status": "one", "language": "en"}).json()["id"]
    service.body = body
    refused = translate(me, post, lang="de")
    assert_refused(refused, 503)
    assert refused["Retry-After"]


def test_a_service_that_hangs_costs_one_wait_and_few_threads(
    me: Caller, people: list[int], service: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ANSWER_S", 1.0)
    posts = [publish(people[0], f"post {n}").public for n in range(MOST_AT_ONCE + 2)]
    translate(me, posts[0], lang="de")
    service.waits.clear()
    service.asked.clear()
    callers = [Caller(people[0]) for _ in posts]
    began = time.monotonic()
    asked = zip(callers, posts, strict=True)
    answers = run_together(partial(translate, *each, lang="en") for each in asked)
    assert {answer.status_code for answer in answers} == {503}
    assert len(service.asked) <= MOST_AT_ONCE and time.monotonic() - began < 10
    assert_refused(translate(me, posts[1], lang="en"), 503)
    assert len(service.asked) <= MOST_AT_ONCE
    service.waits.set()
    monkeypatch.setattr(module._Service, "closed_until", float("-inf"))
    until(lambda: translate(me, posts[1], lang="en").status_code == 200)
