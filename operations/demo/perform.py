"""Writes the script of the demo community with the actions of the product."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

import msgspec

from accounts.actions.update_profile import update_profile
from accounts.images.actions.store_image import store_image
from accounts.images.types import Attachment, ImageText, Purpose
from accounts.types import ProfileEdit
from infra.jobs.checkpoints import find_checkpoint, save_checkpoint
from infra.jobs.types import Batch
from moderation.actions.reports import file_report
from moderation.types import Category, ReportDraft
from operations.demo.community import FIRST_ACCOUNTS
from operations.demo.pictures import draw_photo
from operations.demo.publish import deliver_pending
from operations.demo.rows import Ids
from operations.demo.scenes import ScenePost, furnish, read_scenes, write_site_texts
from operations.demo.types import Community
from posts.actions.create_post import create_post
from posts.actions.declare_reaction import declare_reaction
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.actions.vote import vote
from posts.ids import PostId
from posts.queries.reactions import get_reaction_kind
from posts.types import Draft, Kind, NewPoll, Visibility
from timelines.promotions.models import Campaign
from timelines.promotions.types import CampaignKind
from timelines.trends.actions.compute import compute_trends

JOB = "load_demo scenes"
DAY_S = 86_400
ANN, BOB = 0, 1
CLAP, CLAP_WORDS = "clap", {"en": "well done", "de": "gut gemacht"}
CAMPAIGN = "Demo: evening over the bay"


def perform_scenes(community: Community, ids: Ids) -> Iterator[Batch]:
    """Publishes the posts of the script that are missing, and what people do with each.

    The caller holds `loading_lock`. Safety: as publish_posts; a run that was killed an hour ago may
    repeat its last post.
    """
    stage = Stage(community, ids)
    missing = [scene for scene in read_scenes() if scene.name not in stage.written]
    if missing:
        declare_reaction(CLAP, CLAP_WORDS, at_ms=0)  # its claps come at once, and notify
    for scene in missing:
        stage.perform(scene)
        yield Batch(1, note=f"scene {scene.name}")
    stage.finish()


def has_performed(community: Community) -> bool:
    """One query."""
    return bool((find_checkpoint(JOB, community.name) or {}).get("is_finished"))


class Stage:
    """`written`: the public ids of the posts of the script, by their names."""

    def __init__(self, community: Community, ids: Ids) -> None:
        self._community, self._ids = community, ids
        position = find_checkpoint(JOB, community.name) or {}
        self.began_at_s: float = position.get("began_at_s", time.time())
        self.written: dict[str, str] = position.get("written", {})
        self._is_finished = bool(position.get("is_finished"))

    def perform(self, scene: ScenePost) -> None:
        post = self._publish(scene)
        self._respond(scene, post)
        self.written[scene.name] = post.public
        self._save()

    def finish(self) -> None:
        """The report, the campaign, what the visitors have, and the trends, once."""
        if self._is_finished:
            return
        spam, promoted = self._post("spam"), self._post("lamp")
        draft = ReportDraft(
            spam.author_id, (spam.public,), "The same text every day", Category.SPAM
        )
        file_report(self._ids[BOB], draft)
        # Else it would be among the first that a new person is advised to follow.
        update_profile(spam.author_id, ProfileEdit(is_discoverable=False))
        now = datetime.now(UTC)
        Campaign.objects.get_or_create(
            name=CAMPAIGN,
            defaults={
                "kind": CampaignKind.POST, "post_id": promoted.base36, "starts_at": now,
                "ends_at": now + timedelta(days=365), "daily_cap": 20,
            },
        )  # fmt: skip
        for node in range(len(FIRST_ACCOUNTS)):
            furnish(self._community, self._ids, node, self.written)
        write_site_texts()
        deliver_pending()
        compute_trends(time.time())  # the periodic task ran before there were posts
        self._is_finished = True
        self._save()

    def _publish(self, scene: ScenePost) -> PostId:
        author_id, at_s = self._ids[scene.author], self.began_at_s - 60 * scene.minutes_ago
        first = scene.name.split("-")[0]
        draft = Draft(
            scene.text,
            language="en",
            spoiler_text=scene.warning,
            sensitive=bool(scene.warning),
            visibility=Visibility.DIRECT if scene.is_direct else Visibility.PUBLIC,
            in_reply_to=self._post(scene.answers) if scene.answers else None,
            thread=self._post(first) if scene.answers else None,
            media=tuple(self._photos(author_id, scene)),
            poll=self._poll(scene),
        )
        key = f"{self._community.name} scene:{scene.name}"
        return create_post(author_id, draft, key, lambda: at_s)

    def _photos(self, author_id: int, scene: ScenePost) -> Iterator[dict[str, object]]:
        for photo in scene.photos:
            text = ImageText(photo.description)
            stored = store_image(
                author_id, draw_photo(photo), Purpose.POST, datetime.now(UTC), text
            )
            attachment = Attachment(stored.id, stored.token, stored.facts, *text)
            yield msgspec.to_builtins(attachment)

    def _poll(self, scene: ScenePost) -> NewPoll | None:
        if not scene.options:
            return None
        return NewPoll(tuple(scene.options), False, False, int(self.began_at_s) + 5 * DAY_S)

    def _respond(self, scene: ScenePost, post: PostId) -> None:
        """Followers of the author favourite, clap, repost and vote, but not ann: visitors are."""
        nodes = (follower.node for follower in self._community.graph.iter_followers(scene.author))
        people = [self._ids[node] for node in nodes if node != ANN]
        for person in islice(people, scene.favourites):
            mark_post(person, post, Kind.FAVOURITE, True)
        clap = get_reaction_kind(CLAP)
        for person in islice(people, scene.claps):
            mark_post(person, post, clap, True)
        for person in islice(reversed(people), scene.reposts):
            repost(person, post)
        for number, person in enumerate(islice(people, scene.votes)):
            vote(person, post, [number * number % 7 % len(scene.options)])

    def _post(self, name: str) -> PostId:
        return PostId.from_public(self.written[name])

    def _save(self) -> None:
        position = {
            "began_at_s": self.began_at_s, "written": self.written,
            "is_finished": self._is_finished,
        }  # fmt: skip
        save_checkpoint(JOB, self._community.name, position)
