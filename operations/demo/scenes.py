"""What the demo community shows besides made-up posts: photos, a poll, a thread, messages.

What the accounts for visitors of the demo have, and the texts of the site.
"""

import time
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.db import transaction

from accounts.site_texts.models import SiteRule, SiteTexts
from operations.demo.community import FIRST_ACCOUNTS
from operations.demo.rows import Ids
from operations.demo.types import Community
from posts.actions.mark_post import mark_post
from posts.ids import PostId
from posts.scheduled.actions.schedule import schedule_post
from posts.scheduled.types import PostParams
from posts.types import Kind
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.lists.queries.lists import list_account_lists
from timelines.tags.actions.own_tags import add_own_tag
from timelines.tags.types import TagListKind

FILE = Path(__file__).with_name("data") / "scenes.toml"


class ScenePhoto(NamedTuple):
    """A drawn photo. `hour`: of the day that it shows, which gives its colours."""

    hour: int
    description: str


class ScenePost(NamedTuple):
    """A post of the script. `name`: what later posts answer. `minutes_ago`: before the first run.

    `author`: a node of the graph. `favourites`, `claps`, `reposts`, `votes`: how many followers of
    the author do it.
    """

    name: str
    author: int
    minutes_ago: float
    text: str
    answers: str = ""
    photos: Sequence[ScenePhoto] = ()
    options: Sequence[str] = ()
    warning: str = ""
    is_direct: bool = False
    favourites: int = 0
    claps: int = 0
    reposts: int = 0
    votes: int = 0


@cache
def read_scenes() -> tuple[ScenePost, ...]:
    """The script, in the order of time."""
    with FILE.open("rb") as file:
        scenes = tomllib.load(file)["scene"]
    photos = [[ScenePhoto(**photo) for photo in scene.pop("photos", ())] for scene in scenes]
    return tuple(
        ScenePost(**scene, photos=drawn) for scene, drawn in zip(scenes, photos, strict=True)
    )


LIST, MEMBERS = "Close friends", 8
TAGS, BOOKMARKED = ("kitchen", "walks"), ("ask-10", "four")
LATER = "Good morning from the quay. The kettle is on. #walks"
ABOUT = """A place for people around the bay: walks, kitchens, repairs and boats.

This is a demo. Its people are made up, and its pictures are drawn.
"""
RULES = ("Be kind.", "No advertising.", "Describe your pictures, so that everybody can enjoy them.")


def furnish(community: Community, ids: Ids, node: int, written: Mapping[str, str]) -> None:
    """Gives a person a list, tags, bookmarks and a scheduled post. Safety: idempotent, but
    a run that goes on after an hour schedules the post once more.

    `written`: the public ids of the posts of the script, by their names.
    """
    person = ids[node]
    lists = list_account_lists(person) or [create_account_list(person, LIST)]
    friends = sorted(community.graph.following[node])[:MEMBERS]
    add_members(person, lists[0].list_id, [ids[friend] for friend in friends])
    for tag in TAGS:
        add_own_tag(person, TagListKind.FOLLOWED, tag)
    for name in BOOKMARKED:
        mark_post(person, PostId.from_public(written[name]), Kind.BOOKMARK, True)
    now_s = time.time()
    params = PostParams(LATER, False, "", "public", language="en")
    key = f"{community.name} scheduled:{node}"
    schedule_post(person, params, int(_next_morning(now_s) * 1000), key, int(now_s * 1000))


@transaction.atomic
def write_site_texts() -> None:
    """Leaves texts alone that somebody has written. Safety: idempotent."""
    texts, is_new = SiteTexts.objects.get_or_create(
        defaults={
            "summary": "A small community by the sea",
            "run_by": "The harbour office",
            "email": "office@example.org",
            "contact": FIRST_ACCOUNTS[0],
            "about": ABOUT,
            "about_changed_at": datetime.now(UTC),
        },
    )
    if is_new:
        rules = [SiteRule(site=texts, position=at, text=text) for at, text in enumerate(RULES)]
        SiteRule.objects.bulk_create(rules)


def _next_morning(now_s: float) -> float:
    tomorrow = datetime.fromtimestamp(now_s, UTC) + timedelta(days=1)
    return tomorrow.replace(hour=9, minute=0, second=0, microsecond=0).timestamp()
