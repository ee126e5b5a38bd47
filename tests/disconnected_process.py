"""A web process that receives no invalidations, for tests of what it shows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import orjson

from tests.api_process import ApiProcess

Say = Callable[..., str]
# Copies live as long as possible, so an early change is not due to their age.
OLD = {"HOT_KEY_READS": "20", "HOT_COPY_MS": "5000"}


@contextmanager
def disconnected_reader() -> Iterator[Say]:
    """Asks it: `heat ACCOUNT`, or `ask TOKEN PATH`, which is answered by `status body`."""
    with ApiProcess(**OLD) as process:
        process.do("disconnect")

        def say(word: str, *words: object) -> str:
            if word == "heat":
                return str(process.do(word, *words))
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
