"""A web process that a test talks to: `python -m tests.api_process`, one JSON request a line.

{"do": "GET", "with": [token, path, body]} is answered by [status, text]. The other words of `do`
are the functions below; their answer is what they return. It has a circuit breaker and a memory of
its own.
"""

import json
import os
import sys
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import django

from tests.loaded_process import LoadedProcess
from tests.other_process import end_idle_sessions_late
from tests.waiting import PATIENCE_S

if TYPE_CHECKING:
    from django.test import Client

# The product's own limit, for tests whose Redis hangs.
IMPATIENT = {"REDIS_TIMEOUT_MS": "250"}


class ApiProcess:
    """The test's end of it. `close` ends it, and so does a block."""

    def __init__(self, **environment: str) -> None:
        self.process = LoadedProcess("-m", "tests.api_process", **environment)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def do(self, word: str, *arguments: Any) -> Any:
        self.send(word, *arguments)
        return self.receive()

    def send(self, word: str, *arguments: Any) -> None:
        """Without waiting for the answer."""
        line = json.dumps({"do": word, "with": arguments})
        print(line, file=self.process.stdin, flush=True)

    def receive(self) -> Any:
        line = self.process.stdout.readline()
        assert line, "the process has ended"
        return json.loads(line)

    def close(self) -> None:
        with self.process as process:
            process.kill()


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    end_idle_sessions_late()
    import_module("infra.sharding.pooled.use").use_pools()
    for line in sys.stdin:
        request = json.loads(line)
        word, arguments = request["do"], request["with"]
        answer = WORDS[word](*arguments) if word in WORDS else ask(word, *arguments)
        print(json.dumps(answer), flush=True)  # noqa: T201


def ask(method: str, token: str | None, path: str, body: Any = None) -> tuple[int, str]:
    """`token` None: a guest asks."""
    sent = b"" if body is None else json.dumps(body).encode()
    headers = {"Host": "localhost"} | ({"Authorization": f"Bearer {token}"} if token else {})
    answer = _client().generic(method, path, sent, "application/json", headers=headers)
    return answer.status_code, answer.content.decode()


@cache
def _client() -> "Client":
    """One for all: each makes the middlewares."""
    from django.test import Client  # noqa: PLC0415 - needs the settings

    return Client()


def ask_redis() -> bool:
    """Whether this process gets an answer from Redis."""
    from redis.exceptions import RedisError  # noqa: PLC0415 - see above

    from infra.caching.client import redis  # noqa: PLC0415 - needs the settings

    try:
        return bool(redis().call("PING"))
    except RedisError:
        return False


def hide(post_id: str) -> None:
    from moderation.actions.decide import decide_on_post  # noqa: PLC0415 - needs the settings
    from moderation.types import DecisionKind, DecisionOrigin  # noqa: PLC0415
    from posts.ids import PostId  # noqa: PLC0415

    decide_on_post(PostId.from_public(post_id), DecisionKind.HIDE, DecisionOrigin(None, "spam"))


def suspend(account_id: int) -> None:
    from moderation.actions.decide import decide_on_account  # noqa: PLC0415 - needs the settings
    from moderation.types import DecisionKind, DecisionOrigin  # noqa: PLC0415

    because = DecisionOrigin(None, "spam")
    decide_on_account(account_id, DecisionKind.SUSPEND, because, datetime.now(UTC))


def rename(account_id: int) -> None:
    from accounts.actions.update_profile import update_profile  # noqa: PLC0415 - needs the settings
    from accounts.types import ProfileEdit  # noqa: PLC0415

    update_profile(account_id, ProfileEdit(display_name="Renamed"))


def favourite(account_id: int, author_id: int, moment: int) -> None:
    """And its delivery."""
    from posts.actions.mark_post import mark_post  # noqa: PLC0415 - needs the settings
    from posts.ids import PostId  # noqa: PLC0415
    from posts.types import Kind  # noqa: PLC0415
    from tests.world import drain_all  # noqa: PLC0415

    mark_post(account_id, PostId.at(author_id, moment), Kind.FAVOURITE, True)
    drain_all()


def revoke(token: str) -> None:
    from accounts.actions.tokens import end_tokens  # noqa: PLC0415 - needs the settings
    from accounts.models import AccessToken  # noqa: PLC0415

    ended = AccessToken.objects.filter(token_checksum=sha256(token.encode()).hexdigest())
    assert end_tokens(ended) == 1


def wait_as_a_web_server() -> None:
    """As a web server does, when Redis is back."""
    from infra.changes.running_drainers import wait_for_drain  # noqa: PLC0415 - needs settings

    wait_for_drain()


def wait_for_short_outages(most_s: float) -> None:
    """This process takes outages of so long for short ones.

    When Redis answers, it waits for as long as it takes: a crowded machine is no outage.
    """
    from infra.caching import client  # noqa: PLC0415 - needs the settings

    client.SHORT_OUTAGE_S, client.SENT_WITHIN_S = most_s, PATIENCE_S


WORDS = {
    "favourite": favourite,
    "rename": rename,
    "wait_for_short_outages": wait_for_short_outages,
    "wait_for_drain": wait_as_a_web_server,
    "ask_redis": ask_redis,
    "hide": hide,
    "suspend": suspend,
    "revoke": revoke,
}

if __name__ == "__main__":
    main()
