"""Gives the best-connected people of the demo community a picture, and its visitors a header."""

from collections.abc import Iterator
from datetime import UTC, datetime

from accounts.actions.update_profile import update_profile
from accounts.images.actions.store_image import store_image
from accounts.images.types import Purpose
from accounts.types import ProfileEdit, ProfilePicture
from infra.jobs.checkpoints import find_checkpoint, save_checkpoint
from infra.jobs.types import Batch
from operations.demo.photos import draw_photo
from operations.demo.portraits import draw_portrait
from operations.demo.rows import Ids
from operations.demo.scenes import ScenePhoto
from operations.demo.types import Community

JOB = "load_demo pictures"
PEOPLE = 48
# Of the accounts for visitors: the hour of the day that each header shows.
HEADER_HOURS = (20, 12, 6)


def give_pictures(community: Community, ids: Ids) -> Iterator[Batch]:
    """The caller holds `loading_lock`. Safety: idempotent; a run that was killed gives its last
    person the same picture again. Cost: 30 ms a person."""
    given: int = find_checkpoint(JOB, community.name) or 0
    for node in community.graph.nodes[given:PEOPLE]:
        update_profile(ids[node], _pictures(node, ids[node]))
        given += 1
        save_checkpoint(JOB, community.name, given)
        yield Batch(1, note=f"{given} of {PEOPLE} pictures")


def _pictures(node: int, account_id: int) -> ProfileEdit:
    avatar = _store(account_id, draw_portrait(node), Purpose.AVATAR)
    if node >= len(HEADER_HOURS):
        return ProfileEdit(avatar=avatar)
    photo = draw_photo(ScenePhoto(HEADER_HOURS[node], ""))
    return ProfileEdit(avatar=avatar, header=_store(account_id, photo, Purpose.HEADER))


def _store(account_id: int, content: bytes, purpose: Purpose) -> ProfilePicture:
    stored = store_image(account_id, content, purpose, datetime.now(UTC))
    return ProfilePicture(stored.id, stored.names.original)
