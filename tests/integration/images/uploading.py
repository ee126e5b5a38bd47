"""Uploads through HTTP, and the files they leave."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings

from accounts.images.jobs import remove_unused_images
from infra.jobs.types import Work
from infra.sharding.shards import all_aliases
from tests.pictures import picture, upload

MEDIA = "/api/v2/media"
STATUSES = "/api/v1/statuses"
TOMORROW = timedelta(days=1, minutes=1)


def send(caller, content=None, **form):
    return caller.client.post(MEDIA, {"file": upload(content or picture()), **form})


def sent(caller, **form):
    answer = send(caller, **form)
    assert answer.status_code == 200, answer.content
    return answer.json()


def put(caller, where, **body):
    return caller.client.put(where, body, "application/json")


def publish(caller, images, status="", **more):
    ids = [image["id"] for image in images]
    answer = caller.post(STATUSES, {"status": status, "media_ids": ids, **more})
    assert answer.status_code == 200, answer.content
    return answer.json()


def path_of(address):
    assert address.startswith(settings.MEDIA_URL)
    return "/media/" + address.removeprefix(settings.MEDIA_URL)


def files():
    return [path for path in Path(settings.MEDIA_DIR).rglob("*") if path.is_file()]


def remove(after=timedelta(minutes=1)):
    """How many images the job removed, and how many it could not remove."""
    batches = list(remove_unused_images(Work(all_aliases()[1:]), datetime.now(UTC) + after))
    return sum(batch.changed or 0 for batch in batches), sum(batch.failed for batch in batches)
