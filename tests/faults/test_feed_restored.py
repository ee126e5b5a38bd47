"""Subscribers of a server whose old data folder was put back get all events, or an error."""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime

import msgspec
import pytest

from infra.changes.errors import PositionTooOld
from infra.changes.feed import OLDEST
from infra.sharding.sql import fetch_one
from integrations.positions import decode_position, encode_position
from integrations.queries.events import read_events, site_position_now
from integrations.types import SitePosition
from tests.backups import BaseBackup
from tests.reconciling import make_on
from tests.world import drain_all, forget_memory, publish

LOST = "shard1"
XMIN = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"


def behind_a_row() -> str:
    position = site_position_now()
    page = read_events(SitePosition(dict.fromkeys(position.by_alias, OLDEST)), 1_000)
    return encode_position(page.position)


def now() -> str:
    return encode_position(site_position_now())


def now_of_old_code() -> str:
    """Timeline, transaction, no row, two times; no checksum."""
    us = int(datetime.now(UTC).timestamp() * 1_000_000)
    row = fetch_one(LOST, XMIN)
    assert row is not None
    numbers = {LOST: (1, row[0], 0, us, us)}
    return urlsafe_b64encode(msgspec.msgpack.encode(numbers)).decode().rstrip("=")


FORMS = [behind_a_row, now, now_of_old_code]


@pytest.mark.parametrize("is_empty", [True, False], ids=["empty", "with rows"])
@pytest.mark.parametrize("is_known", [True, False], ids=["before the backup", "after it"])
@pytest.mark.parametrize("form", FORMS)
def test_no_event_is_skipped(services, form, is_known, is_empty):
    ann = make_on(LOST)
    drain_all()
    if not is_empty:
        publish(ann, "kept")
        drain_all()
    kept = form() if is_known else ""
    backup = BaseBackup(services.postgres[LOST])
    for _ in range(20):
        publish(ann, "lost")
    drain_all()
    text = kept or form()
    backup.restore()
    forget_memory()
    posts = {publish(ann, "new").public for _ in range(30)}
    drain_all()
    try:
        told = read_on(text)
    except PositionTooOld:
        assert not is_known
        return
    assert posts <= told


def read_on(text: str) -> set[str]:
    position, told = decode_position(text), set[str]()
    for _ in range(50):
        page = read_events(position, 20)
        position = decode_position(encode_position(page.position))
        told |= {event.data.get("post_id", "") for event in page.events}
        if not page.has_more:
            break
    return told
