"""What the acting request has done of a change, so that the drain does not do it again.

    changes.done:v1:{shard0}:id of the change   names of consumers, with commas

A request notes it when all of that work has succeeded, together with the wake-up of the drain.
Without a note the drain runs every consumer: the request died before, or Redis lost the note, or
the drain was faster. So a note saves work, and nothing depends on it.
"""

from collections.abc import Iterable, Mapping, Sequence

from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.keys import key
from infra.changes.registry import Consumer, name_of

FAMILY = "changes.done:v1"
# A change that waits for longer is done as a whole. So notes take little memory without a drainer.
NOTE_S = 60


class DoneConsumers:
    """Collects the consumers that are done, by the version of the change."""

    def __init__(self) -> None:
        self._done: dict[int, list[Consumer]] = {}

    def add(self, done: Iterable[tuple[Consumer, Sequence[int]]]) -> None:
        for consumer, versions in done:
            for version in versions:
                self._done.setdefault(version, []).append(consumer)

    @property
    def notes(self) -> dict[int, str]:
        return {version: ",".join(map(name_of, done)) for version, done in self._done.items()}


def note_commands(alias: str, done: DoneConsumers) -> list[Command]:
    """Note it, to send with the wake-up: a command for each change with something done."""
    notes = done.notes.items()
    return [("SET", key(FAMILY, alias, version), note, "EX", NOTE_S) for version, note in notes]


def take_done(alias: str, ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
    """The names of the consumers that are done, by change; removes the notes.

    A delivery that fails is tried again without them. Cost: one round trip; nothing while Redis is
    away.
    """
    try:
        notes = redis().run([("GETDEL", key(FAMILY, alias, id_)) for id_ in ids])
    except RedisError:
        return {}
    return {
        id_: frozenset(note.decode().split(","))
        for id_, note in zip(ids, notes, strict=True)
        if note is not None
    }
