"""People, posts and trouble among them, for operators and moderators to find."""

from datetime import UTC, datetime, timedelta
from functools import partial

from axes.models import AccessAttempt

from accounts.models import Application, User
from infra.changes.parking import park
from infra.jobs.models import JobRun
from infra.sharding.buckets import shard_of
from moderation.actions.appeals import file_appeal
from moderation.models import Report
from moderation.types import DecisionKind
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow
from tests.callers import Caller, token_of
from tests.integration.changes.kinds import pending
from tests.integration.images.uploading import publish as publish_with
from tests.integration.images.uploading import sent
from tests.integration.moderation.staff_pages import name_account
from tests.integration.timelines.broken_timelines import lose
from tests.integration.timelines.homes import first_page
from tests.interleavings.edits import change
from tests.people import decide
from tests.pictures import picture
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

    def report(self, *more: PostId) -> Report:
        """By ann, on ben and two of his posts, or more."""
        return Report.objects.create(
            reporter_id=self.ann,
            account_id=self.ben,
            category="spam",
            comment="The same boat, five times a day",
            post_ids=[post.base36 for post in [*more, *self.posts[:2]]],
        )

    def make_trouble(self) -> list[PostId]:
        """Ben was reported and decided on before; a post with an image, and one edited twice."""
        name_account(self.ben, "Ben of the long wall", "https://boats.example/" + "x" * 60)
        ben = Caller(self.ben)
        image = sent(ben, content=picture(size=(900, 600)), description="A boat, from the quay")
        pictured = PostId.from_public(publish_with(ben, [image], "This one")["id"])
        edited = publish(self.ben, "Six boats")
        for text in ("Six boats, " + "cheap" * 30, "Six boats, gone"):
            change(edited, text)
        Report.objects.create(
            reporter_id=self.ann, account_id=self.ben, category="other", comment="Again"
        )
        strike = decide(self.ben, DecisionKind.LIMIT)
        assert strike is not None
        file_appeal(self.ben, strike.pk, "They float.")
        fail_to_sign_in(self.ben)
        drain_all()
        return [edited, pictured]

    def fill_lists(self) -> None:
        """Something in each list of the admin."""
        now = datetime.now(UTC)
        strike = decide(make_account("cora"), DecisionKind.LIMIT)
        assert strike is not None
        file_appeal(strike.account_id, strike.pk, "I only said good morning, to everybody, twice.")
        token_of(self.ann)
        Application.objects.update(website="https://client.example")
        JobRun.objects.create(
            job="audit edges",
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


def fail_to_sign_in(account_id: int) -> None:
    """Five times, so that the name is locked for that address."""
    AccessAttempt.objects.create(
        username=User.objects.get(pk=account_id).username,
        ip_address="2001:db8:1:2::",
        user_agent="Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
        path_info="/auth/sign_in",
        failures_since_start=5,
    )
