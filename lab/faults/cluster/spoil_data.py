"""Makes data that a job has work with. Needs Django: only the backstage uses it."""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db.models import F

from accounts.images.models import StoredImage
from notifications.models import Notification
from posts.models import Post
from posts.types import Kind


def spoil(what: str) -> int:
    """How many rows of all shards it changed. `what` is a name of SPOILERS."""
    return sum(SPOILERS[what](alias) for alias in settings.SHARD_ALIASES)


def _age_images(alias: str) -> int:
    """Images that nothing uses have waited two days longer."""
    unused = StoredImage.objects.on(alias).exclude(remove_after=None)
    return int(unused.update(remove_after=F("remove_after") - timedelta(days=2)))


def _forget_threads(alias: str) -> int:
    """Replies name no thread, as those of old code."""
    replies = Post.objects.on(alias).filter(kind=Kind.REPLY)
    return int(replies.update(thread_author=None, thread_moment=None))


def _lose_notifications(alias: str) -> int:
    return int(Notification.objects.on(alias).all().delete()[0])


SPOILERS: dict[str, Callable[[str], int]] = {
    "images": _age_images,
    "threads": _forget_threads,
    "notifications": _lose_notifications,
}
