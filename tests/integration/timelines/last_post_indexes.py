"""Brings increments up to the stream when the test asks for it, without the thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

from infra.caching.client import redis
from posts.ids import EPOCH, PostId
from timelines.increments.last_post_index import HeaderWord
from timelines.increments.post_stream import LAG_S
from timelines.increments.queries import forget_increments, increments
from timelines.increments.updater import Updater


@contextmanager
def no_thread() -> Iterator[None]:
    with patch.object(Updater, "start", lambda updater: None):
        yield


def catch_up() -> None:
    assert increments().updater.run_once()
    increments()._reopen_at_ms = 0  # look for the file again now


def begin_long_ago() -> None:
    """A new index has followed the stream since long ago. It knows no post of another test."""
    increments()._path.unlink(missing_ok=True)
    forget_increments()
    catch_up()
    snapshot = increments().snapshot()
    assert snapshot is not None
    snapshot.last_posts.header[HeaderWord.COMPLETE_FROM] = 1


def second_now() -> int:
    return int(redis().call("TIME")[0]) - EPOCH


def since(ago_s: int = LAG_S + 1) -> PostId:
    return PostId(second_now() - ago_s, 0, 0)


def authors_since(ids: list[int], cursor: PostId | None = None) -> list[int] | None:
    return increments().authors_since(np.array(ids, np.int64), cursor or since())
