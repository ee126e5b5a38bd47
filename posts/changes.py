"""The changes that posts emit. The owner is the author, or the account that marks a post.

`before`, `after`: the version of the author's list of posts before and after the change. `target`:
the post that a reply or repost is about; it never changes. `visibility`, `tags`, `mentioned` (ids
of accounts): of the post; of a deleted one, those that it had. `thread`: author and moment of the
first post of the thread, for a reply. `quoted`: author and moment of the post that it quotes.
`post_type`: None for a status.
"""

from collections.abc import Sequence
from typing import ClassVar

from counters.kinds import CounterKind
from infra.caller_acts import TAGGED, OwnAct
from infra.changes.lanes import LaneGroup
from infra.changes.registry import Payload
from posts.ids import PostId
from posts.types import REACTIONS, Kind, Target, Visibility

_COUNTS = {
    Kind.REPLY: CounterKind.REPLIES,
    Kind.CLOSED_REPLY: CounterKind.REPLIES,
    Kind.REPOST: CounterKind.REPOSTS,
    Kind.QUOTE: CounterKind.QUOTES,
    Kind.CLOSED_QUOTE: CounterKind.QUOTES,
    **REACTIONS,
}


def act_of_response(kind: int, post_id: PostId, reply_moment: int = 0) -> OwnAct:
    """A response to this post, or the end of one."""
    return OwnAct(_COUNTS[Kind(kind)], post_id.author_id, post_id.moment, reply_moment)


def _acts_of(
    post_id: PostId,
    target: Target | None,
    tags: Sequence[str],
    visibility: int,
    quoted: tuple[int, int] | None = None,
) -> Sequence[OwnAct]:
    """Only public posts are on the pages of their tags. The act on the target is the first."""
    acts = []
    if target is not None:
        acts.append(act_of_response(target.kind, target.post_id))
        if target.kind != Kind.REPOST:
            acts.append(act_of_response(target.kind, target.post_id, post_id.moment))
    if quoted is not None:
        acts += [
            act_of_response(Kind.QUOTE, PostId.at(*quoted), part) for part in (0, post_id.moment)
        ]
    if tags and visibility == Visibility.PUBLIC:
        acts.append(OwnAct(TAGGED, post_id.author_id, post_id.moment))
    return acts


class PostCreated(Payload, frozen=True, omit_defaults=True):
    kind: ClassVar[str] = "posts.created"

    moment: int
    before: int
    after: int
    target: Target | None = None
    visibility: int = 0
    tags: tuple[str, ...] = ()
    mentioned: tuple[int, ...] = ()
    thread: tuple[int, int] | None = None
    quoted: tuple[int, int] | None = None
    post_type: str | None = None

    def own_acts(self, owner_id: int) -> Sequence[OwnAct]:
        post_id = PostId.at(owner_id, self.moment)
        return _acts_of(post_id, self.target, self.tags, self.visibility, self.quoted)


class PostsImported(Payload, frozen=True):
    """An import wrote these posts, the nth author's of the nth moment. Some may be of years ago.

    The authors are on the database of the change, unless they moved since. The owner is one of
    them. Consumers read the posts as they are now.
    """

    kind: ClassVar[str] = "posts.imported"
    lanes: ClassVar[LaneGroup] = LaneGroup.IMPORTED

    authors: tuple[int, ...] = ()
    moments: tuple[int, ...] = ()

    @property
    def ids(self) -> list[PostId]:
        return list(map(PostId.at, self.authors, self.moments))


class ImportEnded(Payload, frozen=True):
    """All imported posts are delivered. Live timelines may lack those that were not pushed.

    Each shard has one; the owner is 0. Those of accounts up to `after` were dropped already.
    """

    kind: ClassVar[str] = "posts.import_ended"
    lanes: ClassVar[LaneGroup] = LaneGroup.IMPORTED

    after: int = 0


class PostDeleted(Payload, frozen=True, omit_defaults=True):
    """`keeps_images`: the author may use them in another post for a day."""

    kind: ClassVar[str] = "posts.deleted"

    moment: int
    before: int
    after: int
    target: Target | None = None
    visibility: int = 0
    tags: tuple[str, ...] = ()
    mentioned: tuple[int, ...] = ()
    keeps_images: bool = False
    quoted: tuple[int, int] | None = None

    def own_acts(self, owner_id: int) -> Sequence[OwnAct]:
        post_id = PostId.at(owner_id, self.moment)
        return _acts_of(post_id, self.target, (), self.visibility, self.quoted)


class PostEdited(Payload, frozen=True, omit_defaults=True):
    """The author replaced the text of a post. `…_before`: what the text before linked to.

    `has_new_poll`: the poll is another one. `lost_media`: it had images, and has none now.
    """

    kind: ClassVar[str] = "posts.edited"

    moment: int
    before: int
    after: int
    visibility: int = 0
    tags: tuple[str, ...] = ()
    tags_before: tuple[str, ...] = ()
    mentioned: tuple[int, ...] = ()
    mentioned_before: tuple[int, ...] = ()
    thread: tuple[int, int] | None = None
    has_new_poll: bool = False
    lost_media: bool = False

    def own_acts(self, owner_id: int) -> Sequence[OwnAct]:
        return _acts_of(PostId.at(owner_id, self.moment), None, self.tags, self.visibility)


class PostHidden(Payload, frozen=True):
    """Moderators hid a post or showed it again."""

    kind: ClassVar[str] = "posts.hidden"

    moment: int
    before: int
    after: int
    visibility: int = 0


class PostImagesChanged(Payload, frozen=True):
    """Moderators hid an image of a post or showed it again."""

    kind: ClassVar[str] = "posts.images_changed"

    moment: int
    before: int
    after: int


class ReplyOrphaned(Payload, frozen=True):
    """The post that a reply of the owner answers was deleted."""

    kind: ClassVar[str] = "posts.reply_orphaned"

    moment: int
    before: int
    after: int


class QuoteRevoked(Payload, frozen=True):
    """The author of the quoted post took back that a post of the owner quotes it."""

    kind: ClassVar[str] = "posts.quote_revoked"

    moment: int
    before: int
    after: int
    quoted: tuple[int, int]


class PoliciesChanged(Payload, frozen=True):
    """The owner changed which accounts may quote a post, or reply to it."""

    kind: ClassVar[str] = "posts.policies_changed"

    moment: int
    before: int
    after: int


class PostMarked(Payload, frozen=True):
    """The owner set or ended a viewer mark of this kind on a post."""

    kind: ClassVar[str] = "posts.marked"

    mark: int
    target_author: int
    target_moment: int

    def own_acts(self, owner_id: int) -> Sequence[OwnAct]:
        """Of a reaction: no other shard knows the other marks."""
        if self.mark not in REACTIONS:
            return ()
        return [act_of_response(self.mark, PostId.at(self.target_author, self.target_moment))]


class PollVoted(Payload, frozen=True):
    """An account voted on the poll of the owner's post."""

    kind: ClassVar[str] = "posts.poll_voted"

    moment: int
    voter: int


class PollClosed(Payload, frozen=True):
    """The poll of the owner's post ended. Each poll reports it once."""

    kind: ClassVar[str] = "posts.poll_closed"

    moment: int


class RepostsLeft(Payload, frozen=True):
    """The owner deleted a post. Its reposts by accounts above `after` are to be undone.

    A replay leaves it out, because the deletion is replayed.
    """

    kind: ClassVar[str] = "posts.reposts_left"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    moment: int
    after: int = 0


class RepliesLeft(Payload, frozen=True):
    """The owner deleted a post. Its replies of this kind are to become orphans.

    Those after this account and moment are left. A replay leaves it out, because the deletion is
    replayed.
    """

    kind: ClassVar[str] = "posts.replies_left"
    lanes: ClassVar[LaneGroup] = LaneGroup.BULK
    is_follow_up: ClassVar[bool] = True

    moment: int
    of_kind: int = Kind.REPLY.value
    after: int = 0
    after_moment: int = 0


class ResponsesPostponed(Payload, frozen=True):
    """Responses to the owner's post changed, and its counts are still to be moved.

    The changes of many responses become one write of the counts. A replay leaves it out, because
    the posts and viewer marks are replayed.
    """

    kind: ClassVar[str] = "posts.responses_postponed"
    lanes: ClassVar[LaneGroup] = LaneGroup.FOLDED
    is_follow_up: ClassVar[bool] = True

    moment: int
