"""The state of Redis now, also whether it takes writes."""

import time

from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.connected_server import WRITE
from infra.caching.scanning import list_nodes
from infra.store_states import SLOW_S, StoreState, state_of

# Of a node that this process does not use at the moment.
PATIENCE_S = 0.5


def read_redis_state() -> StoreState:
    """Never raises RedisError. Cost: a round trip; while Redis is away, one more to each node.

    A process that goes on without Redis fails its own calls at once. Then the nodes say why.
    """
    began_s = time.monotonic()
    try:
        redis().call("PING")
    except RedisError as error:
        return _ask_nodes() or state_of(error)
    return StoreState.SLOW if time.monotonic() - began_s > SLOW_S else StoreState.OK


def _ask_nodes() -> StoreState | None:
    """The state of the first node that takes no write. None: all take one again."""
    try:
        for node in list_nodes(PATIENCE_S):
            node.client.execute_command(*WRITE)  # type: ignore[no-untyped-call]
    except RedisError as error:
        return state_of(error)
    return None
