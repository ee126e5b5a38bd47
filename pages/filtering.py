"""What the filters of a viewer do to a post on a page.

The API names the filters that a post matches, and leaves hidden posts out of the home timeline. The
rest is for its clients.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Entity = Mapping[str, Any]


class FilterEffect(NamedTuple):
    """`title`: of the filter that collapses the post; empty if none does. `hides`: lists leave the
    post out. `covers`: its images wait for a click.
    """

    title: str = ""
    hides: bool = False
    covers: bool = False


NO_EFFECT = FilterEffect()


def effect_of_filters(status: Entity, place: str, viewer: Entity | None) -> FilterEffect:
    """`place`: the context of filters that the page is; empty for a page that filters nothing.

    A repost has the filters of its original. The viewer's own posts are shown as they are. A
    promoted account or ad has no filters.
    """
    shown = status.get("reblog") or status
    if not (matched := shown.get("filtered")) or not place or viewer is None:
        return NO_EFFECT
    if shown["account"]["id"] == viewer["id"]:
        return NO_EFFECT
    filters = [result["filter"] for result in matched]
    return _join([rule for rule in filters if place in rule["context"]])


def _join(filters: Sequence[Entity]) -> FilterEffect:
    """A filter that hides also collapses: the page of one post cannot leave it out."""
    actions = {rule["filter_action"] for rule in filters}
    titles = [rule["title"] for rule in filters if rule["filter_action"] != "blur"]
    return FilterEffect(titles[0] if titles else "", "hide" in actions, "blur" in actions)
