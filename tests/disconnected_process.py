"""Another web process, for tests of what it shows right after a change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import orjson

from tests.api_process import ApiProcess

Say = Callable[..., str]


@contextmanager
def disconnected_reader() -> Iterator[Say]:
    """Asks it: `ask TOKEN PATH`, which is answered by `status body`."""
    with ApiProcess() as process:

        def say(_: str, *words: object) -> str:
            return "{} {}".format(*process.do("GET", *words))

        yield say


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
