"""Ways in which a Redis answers reads and accepts no writes. Each needs a server of its own."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

_PAUSE_MS = 600_000
# A server that pauses writes answers them after the pause. All else is answered, however crowded
# the machine is.
_ANSWER_S, _PATIENCE_S = 0.1, 30.0
_LOOK_EVERY_S, _SAVED_WITHIN_S = 0.01, 30.0


class WriteRefusal(NamedTuple):
    """`begin` and `end` get a client and the file that the server would save its data to."""

    begin: Callable[[Redis, Path], object]
    end: Callable[[Redis, Path], object]


def _fail_to_save(admin: Redis, dump: Path) -> None:
    """A folder has the place of the file. The save fails in another process of the server."""
    (dump / "in_use").mkdir(parents=True, exist_ok=True)
    admin.config_set("save", "3600 1000000")
    with suppress(RedisError):  # the server has begun one itself
        admin.bgsave()
    deadline = time.monotonic() + _SAVED_WITHIN_S
    while admin.info("persistence")["rdb_last_bgsave_status"] != "err":
        if time.monotonic() > deadline:
            raise TimeoutError("the save does not fail")
        time.sleep(_LOOK_EVERY_S)


def _save_nothing(admin: Redis, dump: Path) -> None:
    admin.config_set("save", "")
    shutil.rmtree(dump, ignore_errors=True)


# By the first word of the server's answer to a write; a pause answers nothing.
REFUSALS: Mapping[str, WriteRefusal] = {
    "NOREPLICAS": WriteRefusal(
        lambda admin, _: admin.config_set("min-replicas-to-write", 1),
        lambda admin, _: admin.config_set("min-replicas-to-write", 0),
    ),
    "OOM": WriteRefusal(
        lambda admin, _: admin.config_set("maxmemory", 1),
        lambda admin, _: admin.config_set("maxmemory", 0),
    ),
    "PAUSE": WriteRefusal(
        lambda admin, _: admin.client_pause(_PAUSE_MS, all=False),
        lambda admin, _: admin.client_unpause(),
    ),
    "READONLY": WriteRefusal(
        lambda admin, _: admin.replicaof("127.0.0.1", 1),
        lambda admin, _: admin.replicaof("NO", "ONE"),
    ),
    "MISCONF": WriteRefusal(_fail_to_save, _save_nothing),
}


@contextmanager
def refusing_writes(socket: Path, way: str) -> Iterator[None]:
    """In the block this server refuses writes. `way`: of REFUSALS.

    Raises: RuntimeError if it accepts one.
    """
    dump, refusal = socket.with_name("dump.rdb"), REFUSALS[way]
    with _client(socket, _PATIENCE_S) as admin, _client(socket, _ANSWER_S) as writer:
        try:
            refusal.begin(admin, dump)
            admin.get("any")
            _check_refuses(writer, way)
            yield
        finally:
            refusal.end(admin, dump)


def _client(socket: Path, timeout_s: float) -> Redis:
    return Redis(
        unix_socket_path=str(socket), socket_timeout=timeout_s, retry=Retry(NoBackoff(), 0)
    )


def _check_refuses(writer: Redis, way: str) -> None:
    try:
        writer.set("any", 1)
    except RedisError:
        return
    raise RuntimeError(f"{way}: the server accepts writes")
