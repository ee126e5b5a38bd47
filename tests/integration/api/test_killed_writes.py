"""Each write of the API dies at each failpoint that it passes, in the request or in the drain.

After that the drain and the same request once more leave what a healthy write leaves: the same
answer, and nothing that an audit finds. New writes and new failpoints are found by themselves.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import pytest
from django.test import override_settings

from infra.changes import failpoints
from lab.accept.routes import SiteRoute, iter_operations
from posts.actions.declare_reaction import declare_reaction
from tests.callers import Caller
from tests.dying import Killed, die
from tests.integration.api.encodings import as_json
from tests.integration.api.written_routes import ACCOUNT, OF_SERVICES, WRITES, Scene, Write
from tests.integration.timelines.promotions.campaigns import run_campaign
from tests.push_service import Device
from tests.reconciling import assert_audits_find_nothing
from tests.sign_ups import FAST_HASHERS
from tests.world import drain_all

NONE: Mapping[str, Any] = {}
# Of others' posts, so that two shards have a part in it.
OF_POSTS = ("bookmark", "favourite", "mute", "reblog", "react/{reaction}")


class KilledWrite(NamedTuple):
    """`before`: what is done first, without a death."""

    write: Write
    before: tuple[Write, ...] = ()


def plain_writes() -> Iterator[KilledWrite]:
    """Those without parameters, on things that a scene has."""
    known = {(write.method, write.template) for write in WRITES}
    for path, method, _ in sorted(iter_operations()):
        template = SiteRoute(path, None).template
        is_of_api = path.startswith("api/") and not template.startswith(OF_SERVICES)
        if method != "GET" and is_of_api and (method, template) not in known:
            opposite = Write(method, template.replace("/un", "/"), NONE)
            before = (opposite,) if opposite.template != template else ()
            yield KilledWrite(Write(method, template, NONE), before)


def writes() -> Iterator[KilledWrite]:
    yield from (KilledWrite(write) for write in WRITES if not write.has_file)
    yield from plain_writes()
    for act in OF_POSTS:
        does = Write("POST", f"/api/v1/statuses/{{yours}}/{act}", NONE)
        yield KilledWrite(does)
        yield KilledWrite(Write("POST", f"/api/v1/statuses/{{yours}}/un{act}", NONE), (does,))


class Places(dict[str, Any]):
    """The failpoints that are passed, in order. The process dies at `deadly`, the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.passed: list[str] = []
        self.deadly: str | None = None

    def get(self, name: str, _default: Any = None) -> Any:
        self.passed.append(name)
        if name != self.deadly:
            return None
        self.deadly = None
        return die


@pytest.fixture
def places(world: None, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setattr(failpoints, "_armed", places := Places())
    return places


def send(scene: Scene, write: Write) -> int:
    sender = Caller(None, "write") if write.template == ACCOUNT else scene.me
    query, body, kind = as_json(scene.fill(write.parameters))
    path = scene.fill(write.template)
    answer = sender.client.generic(write.method, path, body, kind, QUERY_STRING=query)
    return int(answer.status_code)


def more_names(me: Caller) -> dict[str, str]:
    """Of things that only writes without parameters are about."""
    notification = me.get("/api/v1/notifications?include_filtered=true").json()[0]
    declare_reaction("clap", {"en": "claps"}, at_ms=0)
    return {
        "name": "tea",
        "reaction": "clap",
        "campaign_id": str(run_campaign()),
        "tag_id": me.post("/api/v1/featured_tags", {"name": "milk"}).json()["id"],
        "notification_id": notification["id"],
        "group_key": notification["group_key"],
    }


def begin(case: KilledWrite, unique: str) -> Scene:
    scene = Scene(Device(), unique)
    scene.names |= more_names(scene.me)
    for write in case.before:
        send(scene, write)
    drain_all()
    return scene


@contextmanager
def dying() -> Iterator[None]:
    with suppress(Killed):
        yield


def name_of(case: KilledWrite) -> str:
    return f"{case.write.method} {case.write.template} {' '.join(case.write.parameters)}"


@pytest.mark.slow
@override_settings(PASSWORD_HASHERS=FAST_HASHERS)
@pytest.mark.parametrize("case", [*writes()], ids=name_of)
def test_a_write_that_dies_is_repaired_by_the_drain_and_a_second_try(places, case):
    healthy = begin(case, "healthy")
    places.passed.clear()
    answer = send(healthy, case.write)
    drain_all()
    second = send(healthy, case.write)
    drain_all()
    for n, place in enumerate(dict.fromkeys(places.passed)):
        scene = begin(case, f"dying{n}")
        places.deadly = place
        with dying():
            send(scene, case.write)
        with dying():
            drain_all()
        assert places.deadly is None, f"nothing was at {place}"
        drain_all()
        assert send(scene, case.write) in {answer, second}, place
        drain_all()
    assert_audits_find_nothing()
