"""What the text of a search asks for.

What a text names exactly. The site of the tests is http://localhost:8000.
"""

from typing import Any

import pytest

from infra.api.errors import InvalidRequest
from posts.ids import FIRST, PostId
from posts.queries.search import PostTraits, PostWords
from timelines.search.addresses import NOTHING, Address, parse_account_address
from timelines.search.days import DayRange
from timelines.search.operators import Operators, read_operators
from timelines.search.resemblance import resemble

DAYS = [PostId(day * 86_400, 0, 0) for day in range(3)]
QUOTED = ("before:2006-01-02", ("before:2006-01-02",))


def has(text: str, **traits: Any) -> Operators:
    return Operators(PostWords(text), traits=PostTraits(**traits))


@pytest.mark.parametrize(
    "each", ["-a{}", '-"a b{}"', "-#a{}", "-from:a{}", '"a b{}"'], ids=lambda each: each[:6]
)
def test_what_is_compared_with_each_post_has_a_bound(each: str):
    texts = [each.format(number) for number in range(120)]
    read_operators(" ".join(["tea", *texts[:10]]))
    with pytest.raises(InvalidRequest, match="at most 10"):
        read_operators(" ".join(["tea", *texts[:11]]))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("two words", Operators(PostWords("two words"))),
        ('a "two words" +b', Operators(PostWords("a b two words", ("two words",)))),
        ("a -b -“two words”", Operators(PostWords("a", unwanted=("b", "two words")))),
        ("#Tea -#Milk", Operators(PostWords("Tea", (), ("tea",), (), ("milk",)))),
        ("FROM:ann -from:me tea", Operators(PostWords("tea"), "ann", ("me",))),
        ('"from:ann" -"#tea"', Operators(PostWords("from:ann", ("from:ann",), (), ("#tea",)))),
        ('a "b c', Operators(PostWords('a "b c'))),
        ("from: # - well-known", Operators(PostWords("from: # - well-known"))),
        ("", Operators(PostWords(""))),
        ("tea before:2006-01-03", Operators(PostWords("tea"), written=DayRange(FIRST, DAYS[2]))),
        ("AFTER:2006-01-01", Operators(PostWords(""), written=DayRange(DAYS[1]))),
        ("during:2006-01-02", Operators(PostWords(""), written=DayRange(DAYS[1], DAYS[2]))),
        (
            "after:2005-12-31 before:2006-01-03 before:9999-12-31",
            Operators(PostWords(""), written=DayRange(DAYS[0], DAYS[2])),
        ),
        ("before:2026-13-01 during:", Operators(PostWords("before:2026-13-01 during:"))),
        ("tea has:media -is:reply", has("tea", has_media=True, is_reply=False)),
        ("tea Language:EN -language:de", has("tea", languages=("en",), unwanted_languages=("de",))),
        ("tea in:all has: is:", Operators(PostWords("tea has: is:"))),
        ("tea IN:library", Operators(PostWords("tea"), in_library=True)),
        ('"has:media"', Operators(PostWords("has:media", ("has:media",)))),
        ('"before:2006-01-02"', Operators(PostWords(*QUOTED))),
    ],
)
def test_reading_operators(text: str, found: Operators) -> None:
    assert read_operators(text) == found


@pytest.mark.parametrize(
    "text", ["-in:library", "has:video", "IS:bot", "-in:all", "in:Berlin", "has:poll -has:poll"]
)
def test_what_cannot_be_searched_for_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        read_operators(f"tea {text}")


HERE = "http://localhost:8000"
POST = PostId(1, 2, 3)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ann", Address("ann")),
        ("@ann", Address("ann")),
        ("@Ann_1@LOCALHOST:8000", Address("Ann_1", is_all=True)),
        ("ann@localhost:8000", Address("ann", is_all=True)),
        ("ann@other.example", NOTHING),
        ("ann@", Address()),
        ("two words", Address()),
        ("mail ann@other.example", Address()),
        ("", Address()),
        (f"{HERE}/@ann", Address("ann", is_all=True)),
        (f"{HERE}/users/ann/", Address("ann", is_all=True)),
        (f"{HERE}/statuses/{POST.public}", Address(post_id=POST, is_all=True)),
        (f"{HERE}/@ann/{POST.public}", Address(post_id=POST, is_all=True)),
        (f"{HERE}/@ann/{'9' * 40}", NOTHING),
        (f"{HERE}/about", NOTHING),
        ("https://other.example/@ann", NOTHING),
        ("http://[broken", NOTHING),
    ],
)
def test_what_a_text_names(text: str, address: Address) -> None:
    assert parse_account_address(text) == address


@pytest.mark.parametrize(
    ("text", "words", "is_like"),
    [
        ("alyce", ["alice"], True),
        ("ALICÉ", ["alice"], True),
        ("smth", ["alice", "smith"], True),
        ("alyce smth", ["alice", "smith"], True),
        ("alyce jones", ["alice", "smith"], False),
        ("alan", ["alice"], False),
    ],
)
def test_words_with_a_typing_error_are_alike(text: str, words: list[str], is_like: bool) -> None:
    assert resemble(text, words) == is_like
