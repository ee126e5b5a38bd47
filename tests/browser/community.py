"""People, posts and trouble among them, for operators and moderators to find."""

from datetime import UTC, datetime, timedelta
from functools import partial

from accounts.models import Application
from infra.changes.parking import park
from infra.jobs.models import JobRun
from infra.sharding.buckets import shard_of
from moderation.actions.appeals import file_appeal
from moderation.models import Report
from moderation.types import DecisionKind
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow
from tests.callers import token_of
from tests.integration.changes.kinds import pending
from tests.integration.moderation.people import decide
from tests.integration.timelines.broken_timelines import lose
from tests.integration.timelines.homes import first_page
from tests.world import drain_all, make_account, publish
from timelines.promotions.models import Campaign

WHY = "ValueError: the store of timelines said no\n  in push, line 12\n  in drain, line 80"


class Community:
    """ann follows ben and reads him. `posts`: his, the oldest first."""

    def __init__(self) -> None:
        self.ann, self.ben = make_account("ann"), make_account("ben")
        follow(self.ann, self.ben)
        drain_all()
        texts = ("Morning tide", "The boat is out", "Nets are full", "Back at the quay")
        self.posts = [self._post(n, text) for n, text in enumerate(texts)]
        drain_all()
        first_page(self.ann)

    def lose_from_home(self, post: PostId) -> None:
        """Ann's stored home timeline lacks it."""
        lose(self.ann, [post])

    def park_a_post(self) -> tuple[PostId, int]:
        """Ben's newest, and its change, which is parked and so not delivered."""
        post = publish(self.ben, "Low water")
        (change,) = pending(shard_of(self.ben))
        park(shard_of(self.ben), [change], WHY)
        return post, change

    def report(self) -> Report:
        """By ann, on ben and two of his posts."""
        return Report.objects.create(
            reporter_id=self.ann,
            account_id=self.ben,
            category="spam",
            comment="The same boat, five times a day",
            post_ids=[post.base36 for post in self.posts[:2]],
        )

    def fill_lists(self) -> None:
        """Something in each list of the admin."""
        now = datetime.now(UTC)
        strike = decide(make_account("cora"), DecisionKind.LIMIT)
        assert strike is not None
        file_appeal(strike.account_id, strike.pk, "I only said good morning, to everybody, twice.")
        token_of(self.ann)
        Application.objects.update(website="https://client.example")
        JobRun.objects.create(
            job="audit_edges",
            flags="--shard shard1 --rate 500",
            dry_run=True,
            state="done",
            host="web-1.example",
            pid=4711,
            done=120_000,
        )
        Campaign.objects.create(
            name="Harbour days",
            kind="post",
            post_id=self.posts[-1].base36,
            starts_at=now,
            ends_at=now + timedelta(days=7),
        )

    def _post(self, number: int, text: str) -> PostId:
        return publish(self.ben, text, clock_s=partial(float, EPOCH + 10_000 + 100 * number))
