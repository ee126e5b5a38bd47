"""Starts a web process that receives no invalidations, for tests of what it shows."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import orjson
from django.conf import settings

from tests.other_process import environment_of_this_test

Say = Callable[..., str]
# Copies live as long as possible, so an early change is not due to their age.
OLD = {"HOT_KEY_READS": "20", "HOT_COPY_MS": "5000"}


@contextmanager
def disconnected_reader() -> Iterator[Say]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "tests.disconnected_reader"],
        env=environment_of_this_test() | OLD,
        cwd=settings.BASE_DIR,
        stdin=pipe,
        stdout=pipe,
        text=True,
    ) as process:

        def say(*words: object) -> str:
            print(*words, file=process.stdin, flush=True)
            assert process.stdout is not None
            return process.stdout.readline().strip()

        yield say
        assert process.stdin is not None
        process.stdin.close()


def ids_in(answer: str) -> set[str]:
    """The ids of the entities in an answer, and of the posts that they repost; of an error none."""
    status, _, body = answer.partition(" ")
    found = orjson.loads(body)
    if status != "200":
        return set()
    entities = found if isinstance(found, list) else [found]
    return {one["id"] for one in entities} | {
        one["reblog"]["id"] for one in entities if one.get("reblog")
    }
