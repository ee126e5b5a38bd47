"""Tables of posts: posts, viewer marks, responses and Idempotency-Keys, all sharded; what services
declare: types of posts, and reactions."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from infra.sharding.models import ShardedModel
from infra.sharding.placement import Placement
from posts.types import LONGEST_REACTION, LONGEST_TYPE, Kind, QuotePolicy, ReplyPolicy, Visibility

POST_KINDS = [(kind.value, kind.name) for kind in (Kind.POST, Kind.REPLY, Kind.REPOST)]
VIEWER_MARK_KINDS = [(k.value, k.name) for k in Kind if Kind.FAVOURITE <= k <= Kind.PIN]
_RESPONSES = (
    Kind.REPLY, Kind.REPOST, Kind.FAVOURITE, Kind.CLOSED_REPLY, Kind.QUOTE, Kind.CLOSED_QUOTE
)  # fmt: skip
RESPONSE_KINDS = [(kind.value, kind.name) for kind in _RESPONSES]
QUOTE_POLICIES = [(policy.value, policy.name) for policy in QuotePolicy]
REPLY_POLICIES = [(policy.value, policy.name) for policy in ReplyPolicy]
VISIBILITIES = [(visibility.value, visibility.name) for visibility in Visibility]


class Post(ShardedModel):
    """SHARDED by author_id, ~1,000 rows an account; written by posts.actions.

    `moment` is second * 1296 + sequence (posts/ids.py). A deleted post stays as a tombstone with
    empty texts, so that its id is not used again. A repost has its own id, an empty text and a
    target; the target is never a repost. `hidden_at`: when moderators hid the post; None if they
    did not. A write with a lower `hidden_revision` than the row's changes nothing.
    The index post_terms, on an expression, serves search_words, and post_open_poll serves
    end_polls.

    `mentions`: [[account id, username], …] of the accounts that the text mentions. `tags`:
    normalized, in their order. `poll`: {"options", "multiple", "hide_totals", "expires_at_s"},
    after an edit with "edition" and "edits" (posts_edit_post); its votes are in PollVote.
    `is_end_reported`: there was a change for the end of the poll. `media`: the images as
    accounts.images.types.Attachment. `application`: {"name", "website"} of the client that
    published the post. NULL for none. `thread_…`: the first post of the thread of a reply; NULL for
    other posts, and for replies of old code. `is_orphan`: the post that a reply answers is deleted.
    `quoted_…`: the post that it quotes. `is_quote_revoked`: its author took that back. `post_type`:
    the name of a PostType; NULL for a status. `custom`: the JSON object of a product, as text: its
    names keep their order. NULL for none.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "moment")
    author_id = models.BigIntegerField()
    moment = models.BigIntegerField()
    text = models.TextField()
    sensitive = models.BooleanField(default=False)
    spoiler_text = models.TextField(blank=True, default="")
    language = models.CharField(max_length=16, null=True)  # noqa: DJ001 - the API says null
    deleted_at = models.DateTimeField(null=True)
    kind = models.SmallIntegerField(choices=POST_KINDS, db_default=Kind.POST.value)
    visibility = models.SmallIntegerField(choices=VISIBILITIES, db_default=Visibility.PUBLIC.value)
    target_author = models.BigIntegerField(null=True)
    target_moment = models.BigIntegerField(null=True)
    mentions = models.JSONField(null=True)
    tags = ArrayField(models.TextField(), null=True)
    media = models.JSONField(null=True)
    poll = models.JSONField(null=True)
    application = models.JSONField(null=True)
    edited_at = models.DateTimeField(null=True)
    thread_author = models.BigIntegerField(null=True)
    thread_moment = models.BigIntegerField(null=True)
    hidden_at = models.DateTimeField(null=True)
    hidden_revision = models.BigIntegerField(db_default=0)
    is_orphan = models.BooleanField(db_default=False)
    is_end_reported = models.BooleanField(db_default=False)
    quoted_author = models.BigIntegerField(null=True)
    quoted_moment = models.BigIntegerField(null=True)
    is_quote_revoked = models.BooleanField(db_default=False)
    quote_policy = models.SmallIntegerField(choices=QUOTE_POLICIES, db_default=QUOTE_POLICIES[0][0])
    reply_policy = models.SmallIntegerField(choices=REPLY_POLICIES, db_default=REPLY_POLICIES[0][0])
    post_type = models.CharField(max_length=LONGEST_TYPE, null=True)  # noqa: DJ001 - most have none
    custom = models.TextField(null=True)  # noqa: DJ001 - an empty object is a text

    class Meta:
        indexes = [
            # author timeline and pull: newest first, with the post that each shows, index-only
            models.Index(
                fields=["author_id", "-moment"],
                name="post_live",
                condition=models.Q(deleted_at=None),
                include=["kind", "visibility", "target_author", "target_moment"],
            ),
            # tags of an author, and the back-fill of the tag index, which has public posts only
            models.Index(
                fields=["author_id", "-moment"],
                name="post_tagged_open",
                condition=models.Q(deleted_at=None, tags__isnull=False, visibility__lt=2),
            ),
            # an author's posts with images
            models.Index(
                fields=["author_id", "-moment"],
                name="post_with_images",
                condition=models.Q(deleted_at=None, media__isnull=False),
            ),
            # where the newest public posts of a shard begin, for search_words, index-only
            models.Index(
                fields=["moment"],
                name="post_public",
                condition=models.Q(deleted_at=None, hidden_at=None, visibility=0, kind__lt=2),
            ),
            # purge deleted-posts: tombstones
            models.Index(
                fields=["author_id", "moment"],
                name="post_deleted",
                condition=models.Q(deleted_at__isnull=False),
            ),
        ]
        constraints = [
            # an author reposts a post once; also finds which of some posts the author reposted
            models.UniqueConstraint(
                fields=["author_id", "target_moment", "target_author"],
                name="post_reposted_once",
                condition=models.Q(kind=Kind.REPOST.value, deleted_at=None),
            ),
            models.CheckConstraint(
                condition=models.Q(kind=Kind.POST.value)
                | models.Q(target_author__isnull=False, target_moment__isnull=False),
                name="post_has_target",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.author_id}/{self.moment}"


class PublishedKey(ShardedModel):
    """SHARDED by author_id: the Idempotency-Key of a post; written and deleted by create_post.

    A key is valid for an hour. The author's next post deletes older keys.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "key")
    author_id = models.BigIntegerField()
    key = models.CharField(max_length=255)
    moment = models.BigIntegerField()
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.author_id}/{self.key}"


class PostVersion(ShardedModel):
    """SHARDED by author_id, few: what a post was before an edit; written by edit_post.

    `number` counts from 1, the first version. `edited_at`: when this version was written; None for
    the first. Deleting the post deletes its versions.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "moment", "number")
    author_id = models.BigIntegerField()
    moment = models.BigIntegerField()
    number = models.IntegerField()
    text = models.TextField()
    sensitive = models.BooleanField()
    spoiler_text = models.TextField(blank=True)
    mentions = models.JSONField(null=True)
    media = models.JSONField(null=True)
    poll = models.JSONField(null=True)
    edited_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.author_id}/{self.moment}: {self.number}"


class LinkDay(ShardedModel):
    """SHARDED by author_id, one row an author: links of the posts of its latest such day (UTC)."""

    owner = "author_id"

    author_id = models.BigIntegerField(primary_key=True)
    day = models.IntegerField()  # days since 1970
    mentions = models.IntegerField()
    tags = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.author_id}: {self.mentions} and {self.tags} on day {self.day}"


class ViewerMark(ShardedModel):
    """SHARDED by owner_id, ~1,000 rows an account: reactions, bookmarks, pins, muted threads.

    Written by mark_post, pin_post and mute_thread; deleting a post ends its pin.

    An ended mark stays, with `is_on` false: `revision` only grows, so that consumers can tell which
    of two changes is newer.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "target_moment", "target_author", "kind")
    owner_id = models.BigIntegerField()
    target_moment = models.BigIntegerField()
    target_author = models.BigIntegerField()
    kind = models.SmallIntegerField(choices=VIEWER_MARK_KINDS)
    is_on = models.BooleanField()
    revision = models.BigIntegerField()
    since_ms = models.BigIntegerField()

    class Meta:
        indexes = [
            # the owner's favourites or bookmarks, latest first, index-only
            models.Index(
                fields=["owner_id", "kind", "-since_ms", "-target_author", "-target_moment"],
                name="viewer_mark_list",
                condition=models.Q(is_on=True),
            ),
            # the owner's viewer state: marks on the newest posts, index-only
            models.Index(
                fields=["owner_id", "-target_moment", "-target_author"],
                name="viewer_mark_recent",
                condition=models.Q(is_on=True),
                include=["kind"],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.kind} on {self.target_author}/{self.target_moment}"


class Response(ShardedModel):
    """SHARDED by author_id, a few rows a post: replies, reposts, reactions, quotes of the post.

    Derived by record_responses from the posts and viewer marks on the responders' shards. A write
    with a lower revision than the row's changes nothing. `reply_moment` is 0 for reposts and
    reactions, of which an account has one of a kind. `visibility`: of the reply.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "moment", "kind", "responder_id", "reply_moment")
    author_id = models.BigIntegerField()
    moment = models.BigIntegerField()
    kind = models.SmallIntegerField(choices=RESPONSE_KINDS)
    visibility = models.SmallIntegerField(choices=VISIBILITIES, db_default=Visibility.PUBLIC.value)
    responder_id = models.BigIntegerField()
    reply_moment = models.BigIntegerField()
    at = models.BigIntegerField()
    revision = models.BigIntegerField()
    is_on = models.BooleanField()

    class Meta:
        indexes = [
            # who reposted or favourited, and quotes, latest first; replies in order; index-only
            models.Index(
                fields=["author_id", "moment", "kind", "-at", "-responder_id"],
                name="response_list",
                condition=models.Q(is_on=True),
            ),
            # threads go on below deleted replies
            models.Index(
                fields=["author_id", "moment", "at", "responder_id"],
                name="response_deleted_replies",
                condition=models.Q(
                    is_on=False, kind__in=[Kind.REPLY.value, Kind.CLOSED_REPLY.value]
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.author_id}/{self.moment}: {self.kind} of {self.responder_id}"


class PollVote(ShardedModel):
    """SHARDED by author_id of the poll's post, a row a voter; written by posts.actions.vote.

    An account chooses an option once. `choices`: places of options, from 0, in the order of votes.
    `edition`: of the poll that the account voted on. Votes of an older edition do not count.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "moment", "voter_id")
    author_id = models.BigIntegerField()
    moment = models.BigIntegerField()
    voter_id = models.BigIntegerField()
    choices = ArrayField(models.SmallIntegerField())
    edition = models.IntegerField(db_default=0)

    class Meta:
        # delete_votes_of: the votes of an account that is purged; the library: the newest ones
        indexes = [models.Index(fields=["voter_id", "-moment"], name="poll_vote_of_voter")]

    def __str__(self) -> str:
        return f"{self.author_id}/{self.moment}: {self.choices} of {self.voter_id}"


class PollTally(ShardedModel):
    """SHARDED by author_id, a row for each poll with votes: how many votes each option has.

    Written by posts.actions.vote in the transaction that writes the vote. An edit that begins a new
    edition of the poll deletes it.
    """

    owner = "author_id"

    pk = models.CompositePrimaryKey("author_id", "moment")
    author_id = models.BigIntegerField()
    moment = models.BigIntegerField()
    votes = ArrayField(models.IntegerField())
    voters = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.author_id}/{self.moment}: {self.votes}"


class PostType(models.Model):
    """GLOBAL, at most MOST_TYPES: a type of posts besides `status`, such as recipe.cooked.

    Written by posts.actions.declare_type. `words`: what it is called, by language.
    """

    placement: ClassVar[Placement] = Placement.GLOBAL

    name = models.CharField(primary_key=True, max_length=LONGEST_TYPE)
    words = models.JSONField()

    def __str__(self) -> str:
        return self.name


class Reaction(models.Model):
    """GLOBAL, at most as many as counters.kinds.DECLARED has numbers: a reaction to posts
    besides the favourite, such as clap.

    Written by posts.actions.declare_reaction, and never deleted: viewer marks and responses have
    its number. `words`: what it is called, by language. `notifies_from_ms`: reactions since then
    notify the author of the post; None if they do not.
    """

    placement: ClassVar[Placement] = Placement.GLOBAL

    number = models.SmallIntegerField(primary_key=True)
    name = models.CharField(max_length=LONGEST_REACTION, unique=True)
    words = models.JSONField()
    notifies_from_ms = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return self.name
