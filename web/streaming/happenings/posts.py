"""Posts that are new, edited or moderated: each viewer sees them by the rules of the timelines."""

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from posts.fragments.read import find_replied_to, find_tags, find_visibility, has_media
from posts.ids import PostId
from posts.types import Kind, Visibility
from posts.types import Target as PostTarget
from relations.lists.errors import ListNotFound
from relations.queries.relationships import Relationships
from relations.types import UNRELATED
from relations.visibility import Surface
from timelines.addressed import HOME_SCOPES
from timelines.feeds.list import load_list_rules
from timelines.feeds.open import is_visible_in_public
from timelines.rules import VisibilityInputs, is_visible_at_home
from timelines.types import Entry
from web.streaming.channels import HASHTAG, HOME, LIST, OF_FOLLOWEES, PUBLIC, PUBLIC_MEDIA, Channel
from web.streaming.directory import Directory
from web.streaming.happenings.types import Audience, Happening, Shown, Target, View, by_account

NEW, EDITED, GONE = "update", "status.update", "delete"


class PostPlaces(NamedTuple):
    """The timelines that may have a post: home timelines, the public one, those of tags.

    `named`: accounts that have it in other lists, with the notification or the conversation.
    """

    is_at_home: bool = True
    is_public: bool = False
    tags: Sequence[str] = ()
    named: Sequence[int] = ()


def places_of(
    author_id: int, visibility: int, tags: Sequence[str], target: PostTarget | None
) -> PostPlaces:
    """Only public posts are on the timelines of all; no reposts, and no replies to others. No
    timeline has direct posts."""
    if visibility != Visibility.PUBLIC:
        return PostPlaces(visibility != Visibility.DIRECT)
    is_repost = target is not None and target.kind == Kind.REPOST
    is_of_author = target is None or target.post_id.author_id == author_id
    return PostPlaces(True, is_of_author and not is_repost, () if is_repost else tags)


def find_listeners(directory: Directory, author_id: int, places: PostPlaces) -> list[Target]:
    """The connections that may have the author's post."""
    followers = directory.followers_of(author_id) if places.is_at_home else ()
    targets = [t for member in followers for t in member.on(HOME, LIST)]
    named = (directory.members[i] for i in places.named if i in directory.members)
    targets += [t for member in named for t in member.on(HOME)]
    targets += [t for member in directory.with_home_tags(places.tags) for t in member.on(HOME)]
    if places.is_public:
        targets += directory.on(*map(Channel, PUBLIC + PUBLIC_MEDIA))
    return targets + directory.on(*(Channel(name, tag) for name in HASHTAG for tag in places.tags))


class PostShown(Happening):
    """A post was published or edited."""

    def __init__(self, event: str, post_id: PostId, original: PostId, places: PostPlaces) -> None:
        self.event, self.post_id, self.original, self.places = event, post_id, original, places
        self.posts, self.asks_home_tags = {post_id: original}, bool(places.tags)

    def find_audience(self, directory: Directory) -> Audience:
        return by_account(find_listeners(directory, self.post_id.author_id, self.places))

    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        if not view.posts.hydrated.has_both(self.post_id, self.original):
            return
        payload = b""
        for target in targets:
            if self._is_visible(view, target[1]):
                payload = payload or view.posts.present(self.post_id, self.original)
                yield Shown(target, self.event, payload)

    def _is_visible(self, view: View, channel: Channel) -> bool:
        if find_visibility(view.posts.hydrated.fragments[self.original]) is Visibility.DIRECT:
            # No timeline has direct posts, so the rules of timelines do not ask.
            return channel.name == HOME and self._is_told_by_name(view)
        if channel.name == HOME and self._is_told_by_name(view):
            return True
        if channel.name == HOME:
            return is_visible_at_home(self._entry, inputs_of(view))
        if channel.name == LIST:
            return self._is_on_list(view, int(channel.argument))
        fragment = view.posts.hydrated.fragments[self.post_id]
        if not _is_listed(fragment, self.post_id.author_id, channel):
            return False
        return is_visible_in_public(view.posts, self.post_id, view.now_ms)

    def _is_told_by_name(self, view: View) -> bool:
        """As the notification or the conversation, with which the account has the post."""
        if view.account_id not in self.places.named:
            return False
        return view.posts.allows(self.post_id, self.original, Surface.BROUGHT, view.now_ms)

    def _is_on_list(self, view: View, list_id: int) -> bool:
        """Members of lists are not kept: their changes are no events. One query, or two."""
        try:
            rules = load_list_rules(view.account_id, list_id)
        except ListNotFound:
            return False
        inputs = inputs_of(view)._replace(
            replies=rules.replies, surface=Surface.LIST, home_tags=frozenset()
        )
        is_member = self.post_id.author_id in rules.member_ids
        return is_member and is_visible_at_home(self._entry, inputs)

    @property
    def _entry(self) -> Entry:
        return Entry(self.post_id, self.original)


class PostRetagged(PostShown):
    """A public post was edited. Timelines of the tags that it lost hear that it is gone, and those
    of media if it lost its images."""

    def __init__(
        self, post_id: PostId, places: PostPlaces, lost: Set[str], lost_media: bool = False
    ) -> None:
        places = places._replace(is_public=True, tags=(*places.tags, *lost))
        super().__init__(EDITED, post_id, post_id, places)
        self._lost, self._lost_media = lost, lost_media

    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        shown = {each.target: each for each in super().show(view, targets)}
        may_see = view.posts.allows(self.post_id, self.original)
        for target in targets:
            if target in shown:
                yield shown[target]
            elif may_see and self._has_lost(view, target[1]):
                yield Shown(target, GONE, self.post_id.public.encode())

    def _has_lost(self, view: View, channel: Channel) -> bool:
        """Home had a post of others than followees by its tags only."""
        if channel.name in HASHTAG:
            return channel.argument in self._lost
        if channel.name in PUBLIC_MEDIA:
            return self._lost_media
        author_id = self.post_id.author_id
        is_followed = view.posts.relationships.get(author_id, UNRELATED).is_followed
        is_by_tags = author_id != view.account_id and not is_followed
        return channel.name == HOME and is_by_tags and not self._lost.isdisjoint(view.home.tags)


class PostModerated(PostShown):
    """Moderators hid the post or one of its images, or showed it again; or its quote was revoked,
    or who may quote it was changed. It is not known where the post was, so all timelines of its
    visibility hear of it; those that must not show it hear that it is gone. `visibility`: None if
    it is to be read. Then a hidden post has no messages."""

    def __init__(self, post_id: PostId, visibility: Visibility | None) -> None:
        super().__init__(EDITED, post_id, post_id, PostPlaces(is_public=True))
        self._visibility, self.asks_home_tags = visibility, True

    def find_audience(self, directory: Directory) -> Audience:
        targets = find_listeners(directory, self.post_id.author_id, self.places)
        targets += [t for member in directory.with_any_home_tag() for t in member.on(HOME)]
        return by_account([*targets, *directory.on_names(HASHTAG)])

    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        shown = {each.target: each for each in super().show(view, targets)}
        fragment = view.posts.hydrated.fragments.get(self.post_id)
        visibility = find_visibility(fragment) if fragment else self._visibility
        for target in targets:
            if target in shown:
                yield shown[target]
            elif _may_have_been_on(target[1], visibility) and self._may_have_had(view, target[1]):
                yield Shown(target, GONE, self.post_id.public.encode())

    def _may_have_had(self, view: View, channel: Channel) -> bool:
        """Home may have had a post of others than followees by its tags. Those of a hidden public
        post are not known; any other post at home by its tags is shown."""
        author_id = self.post_id.author_id
        is_followed = view.posts.relationships.get(author_id, UNRELATED).is_followed
        if channel.name != HOME or author_id == view.account_id or is_followed:
            return True
        is_hidden = self.post_id not in view.posts.hydrated.fragments
        return is_hidden and self._visibility is Visibility.PUBLIC


class PostGone(Happening):
    """A post was deleted. Its id says nothing, so no rule is asked."""

    def __init__(self, post_id: PostId, places: PostPlaces) -> None:
        self.post_id, self.places = post_id, places

    def find_audience(self, directory: Directory) -> Audience:
        return by_account(find_listeners(directory, self.post_id.author_id, self.places))

    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        return (Shown(target, GONE, self.post_id.public.encode()) for target in targets)


def _may_have_been_on(channel: Channel, visibility: Visibility | None) -> bool:
    """The id of a post says who wrote it and when: others must not learn of it."""
    if channel.name in OF_FOLLOWEES:
        return visibility not in (None, Visibility.DIRECT)
    return visibility is Visibility.PUBLIC


def _is_listed(fragment: bytes, author_id: int, channel: Channel) -> bool:
    """Whether the public timeline or the tag's has such a post. An edit may have changed that."""
    if find_visibility(fragment) is not Visibility.PUBLIC:
        return False
    if channel.name in HASHTAG:
        return channel.argument in find_tags(fragment)
    if channel.name in PUBLIC_MEDIA and not has_media(fragment):
        return False
    return find_replied_to(fragment) in (None, author_id)


def inputs_of(view: View) -> VisibilityInputs:
    hydrated, relationships = view.posts.hydrated, view.posts.relationships
    return VisibilityInputs(
        view.account_id,
        view.now_ms,
        hydrated.fragments,
        hydrated.accounts,
        Relationships.build(None, relationships),
        view.addressed,
        HOME_SCOPES[view.home.replies],
        home_tags=frozenset(view.home.tags),
    )
