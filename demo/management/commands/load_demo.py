"""`manage.py load_demo`: makes the demo community; does nothing when it is there."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings

from demo.community import PASSWORD, POSTS, demo_community
from demo.errors import DevelopmentOnly
from demo.load import load_community
from demo.publish import publish_posts, read_progress
from demo.turns import alone
from infra.jobs.command import JobCommand
from infra.jobs.types import Batch, Work


class Command(JobCommand):
    help = "Makes the demo community, with a known password: DEVELOPMENT=1 only."
    unit = "accounts and posts"

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if not settings.DEVELOPMENT:
            raise DevelopmentOnly("load_demo")
        community = demo_community()
        progress = read_progress(community, POSTS)
        if progress is not None and progress.done >= POSTS.total:
            return
        with alone(community.name):
            ids = yield from load_community(community, PASSWORD)
            yield from publish_posts(community, ids, POSTS)
