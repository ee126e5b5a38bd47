"""What the text of a search asks for."""

import pytest

from posts.queries.search import PostWords
from search.operators import Operators, read_operators


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
    ],
)
def test_reading_operators(text: str, found: Operators) -> None:
    assert read_operators(text) == found
