"""Whether a viewer sees an account, or what it posts, on a surface. One rule for all of them. Pure.

`Surface` is the table. A post also has a visibility of its own (posts/rules.py), and an entry of a
timeline is shown by more rules (timelines/rules.py); both ask here about the accounts.
"""

from collections.abc import Mapping
from enum import IntEnum, IntFlag, auto, unique
from functools import lru_cache

from accounts.encode import is_limited
from relations.types import CACHED_RELATIONSHIPS, Attribute, EdgeFlag, Relationship


class Hiding(IntFlag):
    """What is between a viewer and an account, and may hide the account on some surfaces.

    BLOCKED: by the viewer. BLOCKS: the viewer. MUTED, and SILENCED with its notifications: until
    the mute ends. EXCLUSIVE: on such a list of the viewer. LIMITED: by moderators; HELD: so, and
    the viewer does not follow it.
    """

    BLOCKED = auto()
    BLOCKS = auto()
    MUTED = auto()
    SILENCED = auto()
    UNFOLLOWED = auto()
    FOLLOWED = auto()
    REQUESTED = auto()
    EXCLUSIVE = auto()
    WITHOUT_REPOSTS = auto()
    WITHOUT_LANGUAGES = auto()
    LIMITED = auto()
    HELD = auto()


_BLOCK = Hiding.BLOCKED | Hiding.BLOCKS
_UNWANTED = _BLOCK | Hiding.MUTED


@unique
class Surface(IntEnum):
    """Where a viewer meets an account or its posts, and what hides it there."""

    # Home timelines, catch-ups, what is new, and streams. LIST: of a list.
    HOME = _UNWANTED | Hiding.UNFOLLOWED | Hiding.EXCLUSIVE
    LIST = _UNWANTED | Hiding.UNFOLLOWED
    # At home because of a followed tag.
    HOME_TAG = _UNWANTED | Hiding.EXCLUSIVE
    # As the reposter of a post, at home and on lists.
    REPOSTS = Hiding.WITHOUT_REPOSTS
    # In a post of another account that home may show: named, or replied to. That it is missing must
    # not tell who blocks the viewer.
    ADDRESSED = Hiding.BLOCKED | Hiding.MUTED
    # The public timeline, tags, trends and the directory.
    PUBLIC = _UNWANTED | Hiding.LIMITED
    # Posts that the viewer opens: one post, an author's page, own marks, conversations.
    OPENED = _BLOCK | Hiding.HELD
    # Posts that come with others: in threads, reposts, quotes, searches, promotions.
    BROUGHT = _UNWANTED | Hiding.HELD
    # Accounts on lists that are not the viewer's: who responded to a post, followers, followees.
    LISTED = _UNWANTED
    # Searches of accounts. NAMED: by the exact name, so that the viewer can end a block.
    SEARCHED = _BLOCK
    NAMED = Hiding.BLOCKS
    SUGGESTED = _UNWANTED | Hiding.FOLLOWED | Hiding.REQUESTED | Hiding.LIMITED
    # A promotion of the account itself.
    PROMOTED = _UNWANTED | Hiding.HELD | Hiding.FOLLOWED
    # As the one who did what the viewer is notified of.
    NOTIFIED = _BLOCK | Hiding.SILENCED


_MUTES = int(Hiding.MUTED | Hiding.SILENCED)
_NOT_CLEAR = int(Surface.HOME | Hiding.WITHOUT_LANGUAGES)


def may_show(
    surface: Surface, relationship: Relationship, now_ms: int, account: bytes = b""
) -> bool:
    """Whether the surface shows the account to the viewer, who is another one or a guest.

    `relationship`: of the viewer with it. `now_ms`: matters where a mute hides. `account`: its
    entity, for the surfaces that LIMITED or HELD hides from.
    """
    return not find_hiding(surface, relationship, now_ms, account)


def find_hiding(
    surface: Surface, relationship: Relationship, now_ms: int, account: bytes = b""
) -> int:
    """All of Hiding that hides the account there; 0: nothing. Arguments as of `may_show`."""
    hiding = surface & _between(relationship, bool(account) and is_limited(account))
    if hiding & _MUTES and not relationship.is_muted_at(now_ms):
        hiding &= ~_MUTES
    return hiding


def hidden_among(
    surface: Surface, relationships: Mapping[int, Relationship], now_ms: int
) -> set[int]:
    """Those of these accounts that the surface does not show."""
    return {i for i, known in relationships.items() if not may_show(surface, known, now_ms)}


@lru_cache(CACHED_RELATIONSHIPS)
def is_clear_follow(relationship: Relationship) -> bool:
    """Whether home always shows what the account posts: in each language, and without a mute, also
    without one that ended."""
    return not _between(relationship, False) & _NOT_CLEAR


@lru_cache(CACHED_RELATIONSHIPS)
def _between(relationship: Relationship, has_limit: bool) -> int:
    """All of Hiding that is so, as if a mute had no end. Cached: most relationships are one of a
    few values, and it is asked for each entry of a page."""
    is_muted, is_followed = relationship.is_muted, relationship.is_followed
    known = {
        Hiding.BLOCKED: relationship.mine is Attribute.BLACK,
        Hiding.BLOCKS: relationship.theirs is Attribute.BLACK,
        Hiding.MUTED: is_muted,
        Hiding.SILENCED: is_muted and relationship.mutes_notices,
        Hiding.UNFOLLOWED: not is_followed,
        Hiding.FOLLOWED: is_followed,
        Hiding.REQUESTED: relationship.is_requested,
        Hiding.EXCLUSIVE: relationship.is_exclusive,
        Hiding.WITHOUT_REPOSTS: bool(relationship.flags & EdgeFlag.HIDES_REPOSTS),
        Hiding.WITHOUT_LANGUAGES: bool(relationship.languages),
        Hiding.LIMITED: has_limit,
        Hiding.HELD: has_limit and not is_followed,
    }
    return sum(int(hiding) for hiding, holds in known.items() if holds)
