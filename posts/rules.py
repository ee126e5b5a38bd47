"""The rules that decide whether a viewer may see a post. Pure functions of plain values."""

from collections.abc import Mapping

from posts.fragments.places import find_quoted, find_reply_policy
from posts.fragments.read import find_visibility, is_mentioned
from posts.types import ReplyPolicy, Visibility
from relations.types import UNRELATED, Attribute, Relationship
from relations.visibility import Surface, may_show


def may_see(
    viewer_id: int | None,
    authors: Mapping[int, bytes],
    relationships: Mapping[int, Relationship],
    surface: Surface = Surface.OPENED,
    now_ms: int = 0,
) -> bool:
    """Whether the viewer may see open posts of these authors: of the post, and of its repost.

    `authors`: their Account entities. `relationships`: of the viewer with other accounts; empty
    without a viewer. `now_ms`: for surfaces where a mute hides.
    """
    return all(
        may_show(surface, relationships.get(account_id, UNRELATED), now_ms, account)
        for account_id, account in authors.items()
        if account_id != viewer_id
    )


def is_for_viewer(
    viewer_id: int | None, author_id: int, fragment: bytes, relationship: Relationship
) -> bool:
    """Whether the visibility of the author's post includes the viewer.

    Public and unlisted posts are for all, private ones for followers, mentioned accounts and the
    author of the post that they quote, direct ones for mentioned accounts. All are for their
    author.
    """
    visibility = find_visibility(fragment)
    if visibility <= Visibility.UNLISTED or viewer_id == author_id:
        return True
    if viewer_id is None:
        return False
    if visibility is Visibility.PRIVATE:
        quoted = find_quoted(fragment)
        if relationship.is_followed or (quoted and quoted.author_id == viewer_id):
            return True
    return is_mentioned(viewer_id, fragment)


def may_reply(
    viewer_id: int | None, author_id: int, fragment: bytes, relationship: Relationship
) -> bool:
    """Whether the author of a post that the viewer sees lets the viewer reply to it.

    Of the accounts that an author follows quietly none may: else they would learn of it.
    """
    if viewer_id is None or viewer_id == author_id:
        return viewer_id is not None
    policy = find_reply_policy(fragment)
    if policy in (ReplyPolicy.PUBLIC, ReplyPolicy.NOBODY):
        return policy is ReplyPolicy.PUBLIC
    allowed = {
        ReplyPolicy.FOLLOWERS: relationship.is_followed,
        ReplyPolicy.FOLLOWING: relationship.theirs is Attribute.FOLLOW,
    }
    return allowed.get(policy, False) or is_mentioned(viewer_id, fragment)
