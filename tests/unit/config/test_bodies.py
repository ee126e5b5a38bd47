"""Chunked bodies: what they may cost the event loop that reads them."""

import asyncio

import pytest

from web.serving.bodies import MOST_PIECES, read_pieces
from web.serving.refusals import BODY_TOO_LARGE

SIZE = 1_000_000


async def arriving(count):
    """A body of `count` pieces of one byte. The empty piece is its end."""
    for _ in range(count - 1):
        yield b"x"
    yield b""


@pytest.mark.parametrize("count", [2, MOST_PIECES, MOST_PIECES + 1, MOST_PIECES * 2])
def test_a_body_has_a_limit_of_pieces(count):
    body = asyncio.run(read_pieces(arriving(count), SIZE))
    if count > MOST_PIECES:
        assert body is BODY_TOO_LARGE
    else:
        assert body == b"x" * (count - 1)
