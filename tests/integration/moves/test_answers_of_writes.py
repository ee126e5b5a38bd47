"""A write has committed, and then the bucket map changes: its answer is read by the new map."""

import pytest
from django.db import connections
from django.test import override_settings

from infra.sharding.map_copy import MapCopy
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import execute
from tests.callers import Caller
from tests.dying import armed
from tests.ended_sessions import ender
from tests.integration.api.encodings import ENCODINGS, as_multipart
from tests.integration.api.test_parameters_of_writes import send
from tests.integration.api.written_routes import ACCOUNT, WRITES, Scene
from tests.pictures import picture, upload
from tests.push_service import Device
from tests.sign_ups import FAST_HASHERS

__all__ = ["ender"]
TELL = "UPDATE sharding_databaseidentity SET map_epoch = map_epoch + 1"
FORGET = "UPDATE sharding_databaseidentity SET map_epoch = 0"


@pytest.fixture
def change_map(ender):
    """As a switch does: the epoch, first of the default database, and then the end of sessions."""

    def change():
        execute("default", TELL)
        ender.end_all(TELL)

    yield change
    connections.close_all()
    MapCopy.forget()
    for alias in ("default", *shard_aliases()):
        execute(alias, FORGET)
    MapCopy.forget()


def has_two_steps(write):
    """An edit with a policy: the client that gets a 503 sends it again."""
    return write.template.endswith("/{status_id}") and "quote_approval_policy" in write.parameters


@override_settings(PASSWORD_HASHERS=FAST_HASHERS)
def test_each_write_is_answered_when_the_map_changes_after_its_commit(change_map):
    scene, refused, changes = Scene(Device(), "moved"), [], []

    def changed():
        changes.append(1)
        change_map()

    for write in WRITES:
        sender = Caller(None, "write") if write.template == ACCOUNT else scene.me
        parameters = scene.fill(write.parameters)
        sent = (
            as_multipart({**parameters, "file": upload(picture())})
            if write.has_file
            else ENCODINGS["json"](parameters)
        )
        with armed("changes.committed", changed):
            answer = send(sender.client, write, scene.fill(write.template), sent)
        if answer.status_code == 503 and has_two_steps(write):
            answer = send(sender.client, write, scene.fill(write.template), sent)
        if answer.status_code != 200:
            refused.append((write.method, write.template, answer.status_code))
    assert refused == []
    assert len(changes) > 15
