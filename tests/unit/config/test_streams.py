"""Answers that are sent while they are made."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError

from web.serving.streamed_answers import PieceSender


@pytest.fixture
def sender() -> PieceSender:
    protocol = SimpleNamespace(response_stream=lambda *_: None)
    request: Any = SimpleNamespace(scope=SimpleNamespace(path="/archive"), protocol=protocol)
    loop: Any = None
    return PieceSender(loop, request, (200, []))


def fail(error: Exception) -> Any:
    raise error
    yield


def test_a_store_that_fails_ends_the_answer_without_a_traceback(sender: PieceSender) -> None:
    sender.send_all(fail(OperationalError("a shard hangs")))


def test_other_errors_are_errors_of_ours(sender: PieceSender) -> None:
    with pytest.raises(ValueError, match="a fault"):
        sender.send_all(fail(ValueError("a fault")))
