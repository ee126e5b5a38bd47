"""Tables of moderation: reports, decisions and appeals. All on the default database."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from accounts.types import Restriction
from infra.sharding.placement import Placement
from moderation.types import (
    CHECKSUM_BYTES,
    OWNER_DELETED,
    PRODUCT_DEACTIVATED,
    AppealState,
    Category,
    DecisionKind,
    ReportState,
    TargetState,
)
from posts.ids import BASE36_DIGITS, PostId

REASON_LENGTH, COMMENT_LENGTH, APPEAL_LENGTH = 500, 1_000, 2_000


class Report(models.Model):
    """GLOBAL, one row a report; written by moderation.actions.reports.

    `post_ids`: base36. The posts are on the shard of the reported account. Some may be deleted, and
    some may never have existed. `rule_ids`: rules of the site; operators may have deleted them.
    """

    placement = Placement.GLOBAL

    reporter_id = models.BigIntegerField()
    account_id = models.BigIntegerField()
    post_ids = models.JSONField(default=list)
    rule_ids = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    comment = models.CharField(max_length=COMMENT_LENGTH, blank=True, default="")
    category = models.CharField(
        max_length=16, choices=[(category.value, category.value) for category in Category]
    )
    state = models.CharField(
        max_length=8,
        choices=[(state.value, state.value) for state in ReportState],
        default=ReportState.OPEN,
        db_default=ReportState.OPEN,
    )
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    resolved_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        indexes = [
            # the queue, newest first
            models.Index(fields=["state", "-id"], name="report_queue"),
            models.Index(fields=["assignee", "-id"], name="report_of_assignee"),
            models.Index(fields=["account_id", "-id"], name="report_of_account"),
            # what became of the reports of one account
            models.Index(fields=["reporter_id", "-id"], name="report_of_reporter"),
        ]

    def __str__(self) -> str:
        return f"Report {self.pk} on account {self.account_id}"

    @property
    def posts(self) -> list[PostId]:
        return [PostId.from_base36(text) for text in self.post_ids]


class Decision(models.Model):
    """GLOBAL, one row a decision; written by moderation.actions. Never deleted, and never changed
    but for `mailed_at`: when the account got its mail about the decision.

    `actor`: None for a command. `account_id`: the account that the decision is about, or the
    author of the post. `post_id`: base36; empty for a decision on an account or image.
    `image_id`: None for a decision on an account or post. `restrictions`: all restrictions of the
    account after the decision; None if the decision is not on an account. `ends_at`: when the
    restriction ends by itself, as decided then; None: it does not. The last decision on a post says
    whether the post is shown, hidden or deleted; on an image, whether it is hidden.
    """

    placement = Placement.GLOBAL

    kind = models.CharField(
        max_length=8, choices=[(kind.value, kind.value) for kind in DecisionKind]
    )
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    account_id = models.BigIntegerField()
    post_id = models.CharField(max_length=BASE36_DIGITS, blank=True, default="")
    image_id = models.BigIntegerField(null=True)
    reason = models.CharField(max_length=REASON_LENGTH)
    restrictions = models.SmallIntegerField(null=True)
    ends_at = models.DateTimeField(null=True, editable=False)
    report = models.ForeignKey(
        Report, models.PROTECT, null=True, blank=True, related_name="decisions"
    )
    created_at = models.DateTimeField(db_default=Now())
    mailed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        indexes = [
            # the decisions on an account, newest first
            models.Index(fields=["account_id", "-id"], name="decision_on_account"),
            # the last decision on a post
            models.Index(
                fields=["post_id", "-id"], name="decision_on_post", condition=~models.Q(post_id="")
            ),
            # the last decision on an image
            models.Index(
                fields=["image_id", "-id"],
                name="decision_on_image",
                condition=models.Q(image_id__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        if self.image_id is not None:
            return f"{self.kind} image {self.image_id} of {self.account_id}"
        return f"{self.kind} {self.post.public if self.post else self.account_id}"

    @property
    def is_of_owner(self) -> bool:
        """Whether the owner of the account took it: the end of the account."""
        return self.actor_id is None and self.reason == OWNER_DELETED

    @property
    def is_of_product(self) -> bool:
        """Whether the product that the account belongs to took it: until it is active again."""
        return self.actor_id is None and self.reason == PRODUCT_DEACTIVATED

    @property
    def post(self) -> PostId | None:
        """The post that the decision is on; None for a decision on an account."""
        return PostId.from_base36(self.post_id) if self.post_id else None


class TimedRestriction(models.Model):
    """GLOBAL, one row for each restriction in force that ends by itself; written by
    moderation.actions.timed_restrictions. The row goes when the restriction ends, for any reason.

    `restriction`: one of accounts.types.Restriction. `decision`: the one that set this end.
    """

    placement = Placement.GLOBAL

    account_id = models.BigIntegerField()
    restriction = models.SmallIntegerField()
    ends_at = models.DateTimeField()
    decision = models.ForeignKey(Decision, models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account_id", "restriction"], name="one_end_each")
        ]
        # those that are due, the oldest first
        indexes = [models.Index(fields=["ends_at"], name="restriction_ends")]

    def __str__(self) -> str:
        words = Restriction(self.restriction).words
        return f"{words} until {self.ends_at:%Y-%m-%d %H:%M} UTC"


class JointDecision(models.Model):
    """GLOBAL, one row each time that a moderator decides on several targets at once; written by
    moderation.actions.joint_decisions, and never changed.

    `key`: of the form, so that a form that is sent twice is one. `checksum`: of the choices, so
    that others are not taken for a form that is sent twice; empty in rows of older releases.
    `account_kind`, `post_kind`: empty for nothing with the accounts or the posts.
    """

    placement = Placement.GLOBAL

    key = models.UUIDField(unique=True)
    checksum = models.CharField(max_length=2 * CHECKSUM_BYTES, default="", db_default="")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    account_kind = models.CharField(max_length=8, blank=True)
    post_kind = models.CharField(max_length=8, blank=True)
    resolves = models.BooleanField()
    ends_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=REASON_LENGTH)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return f"Decision {self.pk} on several"


class JointTarget(models.Model):
    """GLOBAL, one row for each target of a joint decision; written as above.

    Exactly one of: a post (`post_id`), a report that is resolved (`is_report`), an account.
    `report`: the one that led to it. `note`: why it is not done, or what it waits for.
    """

    placement = Placement.GLOBAL

    joint = models.ForeignKey(JointDecision, models.PROTECT, related_name="targets")
    account_id = models.BigIntegerField()
    post_id = models.CharField(max_length=BASE36_DIGITS, blank=True, default="")
    is_report = models.BooleanField(default=False)
    report = models.ForeignKey(Report, models.PROTECT, null=True, related_name="+")
    state = models.CharField(
        max_length=9,
        choices=[(state.value, state.value) for state in TargetState],
        default=TargetState.WAITING,
    )
    note = models.CharField(max_length=REASON_LENGTH, blank=True, default="")
    decision = models.ForeignKey(Decision, models.PROTECT, null=True, related_name="+")

    def __str__(self) -> str:
        if self.is_report:
            return f"Report {self.report_id}"
        return f"Post {self.post.public}" if self.post else f"Account {self.account_id}"

    @property
    def post(self) -> PostId | None:
        return PostId.from_base36(self.post_id) if self.post_id else None


class Appeal(models.Model):
    """GLOBAL, at most one row a decision; written by moderation.actions.appeals."""

    placement = Placement.GLOBAL

    decision = models.OneToOneField(Decision, models.PROTECT, related_name="appeal")
    text = models.CharField(max_length=APPEAL_LENGTH)
    state = models.CharField(
        max_length=8,
        choices=[(state.value, state.value) for state in AppealState],
        default=AppealState.PENDING,
        db_default=AppealState.PENDING,
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    decided_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        # the queue, newest first
        indexes = [models.Index(fields=["state", "-id"], name="appeal_queue")]

    def __str__(self) -> str:
        return f"Appeal {self.pk} against {self.decision}"
