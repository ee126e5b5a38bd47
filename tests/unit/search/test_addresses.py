"""What a text names exactly. The site of the tests is http://localhost:8000."""

import pytest

from posts.ids import PostId
from timelines.search.addresses import NOTHING, Address, parse_account_address
from timelines.search.resemblance import resemble

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
