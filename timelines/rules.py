"""Decides which entries the viewer may see now. Pure: plain values in, plain values out."""

from collections.abc import Callable, Iterable, Mapping, Set
from typing import NamedTuple

from posts.addressed import Addressed
from posts.fragments.read import REPOST_PREFIX, find_language, find_tags, find_visibility, is_repost
from posts.ids import PostId
from posts.rules import is_for_viewer
from posts.types import Visibility
from relations.languages import is_spoken
from relations.queries.relationships import Relationships
from relations.types import UNRELATED
from relations.visibility import Surface, may_show
from timelines.addressed import ALL_REPLIES, ReplyScope, shows_addressed
from timelines.types import Entry


class VisibilityInputs(NamedTuple):
    """The current state that the rules look at.

    `fragments`: posts that exist. `accounts`: authors that exist. `relationships`: the viewer's, to
    all authors of the events and of the shown posts, and to all accounts that these posts address,
    without the viewer. `addressed`: of all `fragments` (`find_addressed`). `replies`: which replies
    are shown. `home_tags`: public posts with one of these tags are shown too, whether their author
    is followed or not, and any account they reply to.
    """

    viewer_id: int
    now_ms: int
    fragments: Mapping[PostId, bytes]
    accounts: Mapping[int, bytes]
    relationships: Relationships
    addressed: Mapping[PostId, Addressed]
    replies: ReplyScope
    surface: Surface = Surface.HOME
    home_tags: Set[str] = frozenset()


class Rule(NamedTuple):
    """One reason to hide an entry whose event exists.

    `allows`: whether the rule lets the entry be shown. `clear_authors`: authors whose posts the
    rule always allows if they are no reposts and address no account; None: all authors. It must
    not look at `fragments`, `accounts` and `addressed`.

    Such posts of authors that all rules clear are shown without asking a rule. A rule without
    `clear_authors` clears no author. So a new rule is slow at first, but never skipped by mistake.
    """

    allows: Callable[[Entry, VisibilityInputs], bool]
    clear_authors: Callable[[VisibilityInputs], Set[int] | None] = lambda _: frozenset()


def merge(entries: Iterable[Entry], inputs: VisibilityInputs) -> dict[PostId, list[Entry]]:
    """The visible entries by the post that they show, newest first.

    A page shows each post once, at the place of its newest visible entry (ADR 0011).
    """
    by_post: dict[PostId, list[Entry]] = {}
    repeated: set[PostId] = set()
    authors = find_clear_authors(inputs) & inputs.accounts.keys()
    fragments, addressed = inputs.fragments, inputs.addressed
    for entry in entries:
        event, original = entry
        is_visible = (
            event is original
            and event[1] in authors
            and event not in addressed
            and not fragments.get(event, REPOST_PREFIX).startswith(REPOST_PREFIX)
        ) or is_visible_at_home(entry, inputs)
        if is_visible and original in by_post:
            by_post[original].append(entry)
            repeated.add(original)
        elif is_visible:
            by_post[original] = [entry]
    for original in repeated:
        by_post[original].sort(reverse=True)
    return by_post


def find_clear_authors(inputs: VisibilityInputs) -> Set[int]:
    """Authors whose posts are all visible, if they exist and address no account.

    Found once a page. `fragments`, `accounts` and `addressed` may be empty.
    """
    clear: Set[int] | None = None
    for rule in RULES:
        authors = rule.clear_authors(inputs)
        if authors is not None:
            clear = authors if clear is None else clear & authors
    return frozenset() if clear is None else clear


def is_visible_at_home(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether the event and its author exist, and all rules allow it."""
    return _exists(entry, inputs) and all(rule.allows(entry, inputs) for rule in RULES)


def is_stale(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether the entry will never be shown.

    A post of it is deleted, its author is not followed, or it is a repost that lost its original.
    If the viewer follows the author again, the follow adds the entries again.
    """
    event, original = entry
    author = event.author_id
    if event not in inputs.fragments or original not in inputs.fragments:
        return True
    if is_repost(inputs.fragments[original]):
        return True
    if author == inputs.viewer_id or inputs.relationships.by_account[author].is_followed:
        return False
    return not _has_home_tag(entry, inputs)


def _exists(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether the event and its author exist.

    False for the entry of a repost that lost its original: the fragment of a repost alone is no
    JSON.
    """
    event, original = entry
    if event not in inputs.fragments or event.author_id not in inputs.accounts:
        return False
    is_own_post = event is original or event == original
    return not (is_own_post and is_repost(inputs.fragments[event]))


def _is_author_shown(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether the author of the event is the viewer, or is shown there, or wrote a post with a home
    tag. At home no members of an exclusive list are: their posts and reposts are on the list."""
    author = entry.event.author_id
    if author in inputs.relationships.clear_follows or author == inputs.viewer_id:
        return True
    relationship = inputs.relationships.by_account[author]
    if may_show(inputs.surface, relationship, inputs.now_ms):
        return True
    is_by_tag = _has_home_tag(entry, inputs)
    return is_by_tag and may_show(Surface.HOME_TAG, relationship, inputs.now_ms)


def _has_home_tag(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether home shows the post to readers who do not follow its author, as tag timelines do.

    The tag index may still name a post whose edit took the tag away. Reposts have no tags.
    """
    event, original = entry
    if not inputs.home_tags or event != original or event not in inputs.fragments:
        return False
    fragment, account = inputs.fragments[event], inputs.accounts.get(event.author_id)
    if account is None or is_repost(fragment):
        return False
    if not may_show(Surface.PUBLIC, UNRELATED, inputs.now_ms, account):
        return False
    is_public = find_visibility(fragment) is Visibility.PUBLIC
    return is_public and not inputs.home_tags.isdisjoint(find_tags(fragment))


def _is_language_shown(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether a post is in a language that the viewer wants of its author. Reposts have none."""
    event, original = entry
    if event != original or event.author_id == inputs.viewer_id:
        return True
    languages = inputs.relationships.by_account[event.author_id].languages
    return not languages or is_spoken(find_language(inputs.fragments[event]), languages)


def _is_addressed_shown(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether the viewer wants the post in spite of the accounts that it addresses.

    A repost of a reply, and a reply with a home tag, is shown in any case. What the
    viewer reposts is the viewer's own.
    """
    event, original = entry
    addressed = inputs.addressed.get(original)
    if addressed is None or event.author_id == inputs.viewer_id:
        return True
    if event == original and _shows(original, addressed, inputs, inputs.replies):
        return True
    is_to_anyone = event != original or _has_home_tag(entry, inputs)
    return is_to_anyone and _shows(original, addressed, inputs, ALL_REPLIES)


def _shows(
    post_id: PostId, addressed: Addressed, inputs: VisibilityInputs, replies: ReplyScope
) -> bool:
    by_account, at_ms = inputs.relationships.by_account, inputs.now_ms
    author_id = post_id.author_id
    return shows_addressed(inputs.viewer_id, author_id, addressed, replies, by_account, at_ms)


def _are_reposts_shown(entry: Entry, inputs: VisibilityInputs) -> bool:
    """False if the viewer hides the reposter's reposts."""
    event, original = entry
    reposter = event.author_id
    if event == original or reposter == inputs.viewer_id:
        return True
    return may_show(Surface.REPOSTS, inputs.relationships.by_account[reposter], inputs.now_ms)


def _is_original_shown(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether the viewer may see the post that a repost shows.

    Its author must not be muted, nor blocked in either direction, nor limited unless followed. Its
    visibility must include the viewer. An own post needs no such rule: a timeline has no direct
    posts, and private posts are for followers.
    """
    event, original = entry
    author = original.author_id
    if event == original:
        return True
    if original not in inputs.fragments or author not in inputs.accounts:
        return False
    if author == inputs.viewer_id:
        return True
    relationship = inputs.relationships.by_account[author]
    if not may_show(Surface.BROUGHT, relationship, inputs.now_ms, inputs.accounts[author]):
        return False
    return is_for_viewer(inputs.viewer_id, author, inputs.fragments[original], relationship)


def _clear_all_shown(inputs: VisibilityInputs) -> Set[int]:
    """The viewer, and authors whose posts are all shown."""
    return inputs.relationships.clear_follows | {inputs.viewer_id}


def _clear_all(inputs: VisibilityInputs) -> None:
    """All authors: the rule is about reposts, or about posts that address accounts."""


# All reasons to hide an entry of a home or list timeline. Each new reason goes here.
RULES = (
    Rule(_is_author_shown, _clear_all_shown),
    Rule(_is_language_shown, _clear_all_shown),
    Rule(_is_addressed_shown, _clear_all),
    Rule(_are_reposts_shown, _clear_all),
    Rule(_is_original_shown, _clear_all),
)
