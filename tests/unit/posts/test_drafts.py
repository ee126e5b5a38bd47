"""What a post may be: limits in characters, what cannot be stored, what would be lost."""

import pytest

from infra.api.errors import InvalidRequest
from posts.actions.check_draft import check_draft, check_key
from posts.errors import EmptyPost, InvalidDraft, PostTooLong
from posts.types import Draft

MOST = 500


@pytest.fixture(autouse=True)
def limit(settings):
    settings.POST_MAX_CHARACTERS = MOST


def test_few_characters_may_be_too_heavy():
    for text in ("e" + "\u0301" * 5_000, ("https://a.b/" + "x" * 2_000 + " ") * 8):
        with pytest.raises(PostTooLong):
            check_draft({"status": text})
        with pytest.raises(PostTooLong):
            check_draft({"status": "x", "spoiler_text": text})


def test_spoiler_text_counts_too():
    check_draft({"status": "a" * (MOST - 3), "spoiler_text": "abc"})
    with pytest.raises(PostTooLong):
        check_draft({"status": "a" * (MOST - 3), "spoiler_text": "abcd"})


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u2003", None])
def test_nothing_to_read_is_no_post(text):
    with pytest.raises(EmptyPost):
        check_draft({"status": text, "spoiler_text": text})
    assert check_draft({"status": text, "spoiler_text": " x "}) == Draft("x", sensitive=True)


def test_missing_text_is_no_post():
    with pytest.raises(EmptyPost):
        check_draft({})


@pytest.mark.parametrize("field", ["status", "spoiler_text", "language"])
@pytest.mark.parametrize(
    "value", ["a\x00b", "a\ud800b", "\udfff", 7, ["a"], {"a": 1}, True, [], {}, 0, False]
)
def test_what_cannot_be_stored_is_refused_in_every_field(field, value):
    with pytest.raises(InvalidRequest):
        check_draft({"status": "fine"} | {field: value})


@pytest.mark.parametrize(
    "more",
    [
        {"media_attributes": [{"id": "1"}]},
        {"media_attributes": [{"id": "1", "description": "Sea"}]},
        {"quote_approval_policy": "friends"},
        {"quote_approval_policy": ["public"]},
        {"reply_approval_policy": "friends"},
        {"visibility": "mine"},
        {"visibility": 3},
        {"language": "x" * 17},
    ],
)
def test_what_would_be_lost_is_refused(more):
    with pytest.raises(InvalidDraft):
        check_draft({"status": "fine"} | more)


def test_everything_that_is_kept():
    form = {
        "status": "  text as  typed \r\n",
        "spoiler_text": " careful ",
        "sensitive": "false",
        "language": "en",
        "visibility": "public",
        "quote_approval_policy": "public",
        "reply_approval_policy": "public",
        "media_ids": [],
    }
    assert check_draft(form) == Draft("text as  typed", True, "careful", "en")


@pytest.mark.parametrize(("sent", "kept"), [("", None), (None, None), ("k" * 255, "k" * 255)])
def test_keys_as_they_come(sent, kept):
    assert check_key(sent) == kept
