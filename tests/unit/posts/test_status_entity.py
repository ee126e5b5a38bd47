"""The Status entity: what its fields say, and text that stays text."""

import orjson
import pytest

from posts.api.present import encode_post, present_status, status_id_of, with_source
from posts.ids import PostId, second_of
from posts.types import PostRow

POST_ID = PostId.at(7, second_of(1_780_000_000.9) * 1296 + 5)


def row(text: str, **more: object) -> PostRow:
    plain = PostRow(POST_ID.author_id, POST_ID.moment, text, False, "", None)
    return plain._replace(**more)


def status_of(post: PostRow) -> dict[str, object]:
    return orjson.loads(present_status(encode_post(post), b'{"id":"7"}'))


def test_status_says_who_when_and_where(settings):
    settings.PUBLIC_URL = "https://tide.example"
    status = status_of(row("hello", language="de", sensitive=True, spoiler_text="a < b"))
    assert status["id"] == POST_ID.public
    assert status["created_at"] == "2026-05-28T20:26:40.000Z"
    assert status["url"] == f"https://tide.example/statuses/{POST_ID.public}"
    assert status["account"] == {"id": "7"}
    assert (status["language"], status["sensitive"]) == ("de", True)
    assert status["spoiler_text"] == "a < b"  # plain text, unlike the content


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("hello", "<p>hello</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("a & b \"c\" 'd'", "<p>a &amp; b &quot;c&quot; &#x27;d&#x27;</p>"),
        ("&lt;b&gt;", "<p>&amp;lt;b&amp;gt;</p>"),
        ("one\ntwo\r\nthree", "<p>one<br />two<br />three</p>"),
        ("one\n\n\ntwo", "<p>one</p><p>two</p>"),
        ("👩\u200d🚀 字 é", "<p>👩\u200d🚀 字 é</p>"),
        ('"},{"id":"1', "<p>&quot;},{&quot;id&quot;:&quot;1</p>"),
    ],
)
def test_text_stays_text(text, html):
    assert status_of(row(text))["content"] == html


def test_id_is_what_the_entity_begins_with():
    assert status_id_of(present_status(encode_post(row("hello")), b'{"id":"7"}')) == POST_ID.public


def test_deleted_status_carries_the_text_as_typed():
    text = 'quotes " and \\ and 🌊\n'
    status = present_status(encode_post(row(text)), b'{"id":"7"}')
    assert orjson.loads(with_source(status, text)) == orjson.loads(status) | {"text": text}
