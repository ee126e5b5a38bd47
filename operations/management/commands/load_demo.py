"""`manage.py load_demo`: creates the demo community, if it does not exist."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings

from infra.jobs.command import JobCommand
from infra.jobs.types import Batch, Work
from operations.demo.community import PASSWORD, POSTS, demo_community
from operations.demo.errors import DevelopmentOnly
from operations.demo.load import load_community, loading_lock
from operations.demo.perform import has_performed, perform_scenes
from operations.demo.pictures import give_pictures
from operations.demo.publish import publish_posts, read_progress


class Command(JobCommand):
    """Creates the demo community with a public password. Needs DEVELOPMENT=1.

    **When**: `make run` calls it on the first start. It creates 400 accounts, 4,295 follows and 300
    posts over four days; `ann`, `bob` and `cyd` are the best connected. All have the password
    `tideline-demo`, so the command needs `DEVELOPMENT=1`. **Costs**: a few seconds; one query if
    the community exists.
    """

    unit = "accounts and posts"

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if not settings.DEVELOPMENT:
            raise DevelopmentOnly("load_demo")
        community = demo_community()
        progress = read_progress(community, POSTS)
        if progress is not None and progress.done >= POSTS.total and has_performed(community):
            return
        with loading_lock(community.name):
            ids = yield from load_community(community, PASSWORD)
            yield from give_pictures(community, ids)
            yield from publish_posts(community, ids, POSTS)
            yield from perform_scenes(community, ids)
