"""Mastodon's Tag and FeaturedTag entities."""

import time
from collections.abc import Collection, Iterable
from typing import Any

import orjson

from accounts.texts.html import tag_url
from accounts.texts.links import normalize_tag
from posts.ids import PostId
from timelines.tags.queries.own_tags import find_lists_of
from timelines.tags.queries.tag_usage import count_uses, date_of, load_histories
from timelines.tags.types import OwnTag, TagListKind, tag_id_of


def present_tags(names: Iterable[str], viewer_id: int | None) -> list[dict[str, Any]]:
    """Tag entities of these tags, with the viewer's lists.

    Cost: one query on each shard of a tag, and one for a viewer.
    """
    ids = {name: tag_id_of(normalize_tag(name)) for name in names}
    lists = find_lists_of(viewer_id, ids.values()) if viewer_id is not None and ids else None
    histories = load_histories(ids.values(), time.time())
    return [
        _tag_of(name, tag_id, histories[tag_id], None if lists is None else lists[tag_id])
        for name, tag_id in ids.items()
    ]


def present_featured(author_id: int, tags: Collection[OwnTag]) -> bytes:
    """FeaturedTag entities as an array. Cost: one query if there are tags."""
    uses = count_uses(author_id, [normalize_tag(tag.name) for tag in tags]) if tags else {}
    featured = []
    for tag in tags:
        name = normalize_tag(tag.name)
        count, moment = uses[name]
        at = None if moment is None else date_of(PostId.at(author_id, moment).posted_at_s)
        featured.append(
            {
                "id": str(tag.tag_id),
                "name": tag.name,
                "url": tag_url(name),
                "statuses_count": str(count),
                "last_status_at": at,
            }
        )
    return orjson.dumps(featured)


def _tag_of(
    name: str, tag_id: int, history: list[dict[str, str]], lists: set[TagListKind] | None
) -> dict[str, Any]:
    """`lists`: the viewer's lists with the tag; None for a guest."""
    tag: dict[str, Any] = {
        "id": str(tag_id),
        "name": name,
        "url": tag_url(normalize_tag(name)),
        "history": history,
    }
    if lists is None:
        return tag
    following, featuring = TagListKind.FOLLOWED in lists, TagListKind.FEATURED in lists
    return tag | {"following": following, "featuring": featuring}
