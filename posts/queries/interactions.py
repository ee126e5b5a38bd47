"""The JSON that answers an interaction: a repost, favourite, bookmark, or its undoing."""

import time
from collections.abc import Mapping

from accounts.queries.load import find_bare_account_json
from counters.own_counts import with_own_acts
from infra.caching.questions import answer, ask_both
from infra.changes.own_acts import ask_own_acts
from infra.moving import beginning_again
from infra.sharding.buckets import shard_of
from posts.cache.single_posts import Fragments
from posts.cache.viewer_state import read_own_marks
from posts.cache.weeks import ask_weeks
from posts.errors import PostNotFound
from posts.filters.matching import NO_FILTERS, FilterSet
from posts.fragments.present import MUTED, encode_post, find_reposted, find_thread
from posts.ids import PostId
from posts.queries.rows import find_post_row, read_posts
from posts.reading.hydrate import Hydrated, ask_posts
from posts.reading.statuses import load_status_json
from posts.rules import is_for_viewer, may_see
from posts.types import Kind, PostRow
from relations.queries.relationships import ask_relationships
from relations.types import UNRELATED, Relationship


def get_any_original(post_id: PostId) -> PostId:
    """The post, or its original if it is a repost. Both may be deleted or hidden.

    For undoing an interaction, which needs no permission to see the post. Raises: PostNotFound if
    the post never existed. Cost: one round trip; one query by key for a post that is not shown.
    """
    fragment = answer(ask_weeks([post_id], time.time())).get(post_id)
    if fragment is not None:
        return find_reposted(fragment) or post_id
    row = find_post_row(post_id)
    if row is None:
        raise PostNotFound
    return row.target.post_id if row.target and row.kind == Kind.REPOST else post_id


def get_own_row(author_id: int, post_id: PostId) -> PostRow:
    """The author's own post or reply, if it is not hidden. Raises: PostNotFound. One query."""
    if post_id.author_id != author_id:
        raise PostNotFound
    rows = read_posts(shard_of(author_id), [post_id])
    if not rows or rows[0].kind == Kind.REPOST:
        raise PostNotFound
    return rows[0]


@beginning_again
def get_published_json(author_id: int, post_id: PostId) -> bytes:
    """The Status of the author's own post, also while the caches lack it.

    Raises: PostNotFound if it is deleted or hidden. Cost: as load_status_json; if the caches lack
    the post, one query more, and as get_interaction_json.
    """
    if statuses := load_status_json([post_id], author_id):
        return statuses[post_id]
    if not read_posts(shard_of(author_id), [post_id]):
        raise PostNotFound
    return get_interaction_json(author_id, post_id, post_id)


@beginning_again
def get_interaction_json(viewer_id: int, event: PostId, original: PostId) -> bytes:
    """The Status of a post, or of the viewer's repost of it, with the interaction and its count.

    The interaction is included before the drain has recorded it on the post's shard. A deleted post
    is shown with empty texts, and so is one that the viewer may not see: its author may block them.
    Raises: PostNotFound. Cost: one query by key, and hydration.
    """
    reposts = [event] if event != original else []
    others = [original.author_id] if original.author_id != viewer_id else []
    viewer = ask_both(ask_own_acts(viewer_id), ask_relationships(viewer_id, others))
    (acts, relationships), hydrated = answer(ask_both(viewer, ask_posts([original], reposts)))
    missing = _read_missing({event, original} - set(hydrated.fragments))
    hydrated = hydrated._replace(fragments=hydrated.fragments | missing)
    hydrated = _with_bare_author(original, hydrated)
    flags, filters = _read_marks(viewer_id, original, hydrated.fragments)
    if not hydrated.has_both(event, original):
        raise PostNotFound
    shown = _without_texts(viewer_id, original, hydrated, relationships.by_account)
    status = filters.apply(shown.present(event, original, viewer_id, flags))
    return with_own_acts(status, viewer_id, acts)


def _without_texts(
    viewer_id: int,
    original: PostId,
    hydrated: Hydrated,
    relationships: Mapping[int, Relationship],
) -> Hydrated:
    """With empty texts of a post that the viewer may not see any more.

    An interaction can be undone after that, and the answer must not show the post again.
    """
    fragment, author_id = hydrated.fragments[original], original.author_id
    author = {author_id: hydrated.accounts[author_id]}
    relationship = relationships.get(author_id, UNRELATED)
    is_shown = may_see(viewer_id, author, relationships)
    if is_shown and is_for_viewer(viewer_id, author_id, fragment, relationship):
        return hydrated
    return _emptied(original, hydrated)


def _with_bare_author(original: PostId, hydrated: Hydrated) -> Hydrated:
    """With an author that is not shown, such as a suspended one, and then with empty texts.

    An interaction can be undone after that.
    """
    author_id = original.author_id
    if author_id in hydrated.accounts or original not in hydrated.fragments:
        return hydrated
    bare = find_bare_account_json(author_id)
    if bare is None:
        return hydrated
    accounts = {**hydrated.accounts, author_id: bare}
    return _emptied(original, hydrated._replace(accounts=accounts))


def _emptied(original: PostId, hydrated: Hydrated) -> Hydrated:
    row = find_post_row(original)
    if row is None:
        return hydrated
    emptied = row._replace(
        text="", spoiler_text="", mentions=None, tags=None, media=None, poll=None
    )
    return hydrated._replace(fragments={**hydrated.fragments, original: encode_post(emptied)})


def _read_marks(viewer_id: int, original: PostId, fragments: Fragments) -> tuple[int, FilterSet]:
    """The viewer's flags of the post and its thread, and the viewer's filters."""
    if original not in fragments:
        return 0, NO_FILTERS
    thread = find_thread(fragments[original])
    flags, filters = read_own_marks(viewer_id, list({original, thread}))
    return flags.get(original, 0) & ~MUTED | flags.get(thread, 0) & MUTED, filters


def _read_missing(ids: set[PostId]) -> Fragments:
    rows = {post_id: find_post_row(post_id) for post_id in ids}
    return {post_id: encode_post(row) for post_id, row in rows.items() if row is not None}
