"""The JSON that answers an interaction: a repost, favourite, bookmark, or its undoing."""

import time
from collections.abc import Mapping

from accounts.api.present import present_account
from accounts.cache import profiles
from accounts.queries.load import find_bare_account_json
from counters.cache import entry_of
from counters.own_counts import with_own_acts
from infra.caching.questions import Question, answer, ask_both
from infra.changes.own_acts import ask_own_acts
from infra.moving import beginning_again
from infra.sharding.buckets import shard_of
from posts.cache.single_posts import Fragments
from posts.cache.viewer_state import ask_viewer_state, read_own_marks
from posts.cache.viewer_state_payload import ViewerState
from posts.cache.weeks import ask_weeks
from posts.errors import PostNotFound
from posts.filters.matching import NO_FILTERS, FilterSet
from posts.fragments.present import MUTED, encode_post
from posts.fragments.read import find_reposted, find_thread
from posts.ids import PostId
from posts.queries.rows import find_post_row, read_posts
from posts.reading.hydrate import Hydrated, ask_posts
from posts.reading.statuses import load_status_json
from posts.reading.viewing import PostViewer, view
from posts.rules import is_for_viewer, may_see
from posts.types import Kind, PostRow, PublishedPost, WrittenPost
from relations.queries.relationships import ask_relationships
from relations.types import UNRELATED, Relationship

OwnView = tuple[dict[int, bytes], ViewerState]


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


def ask_own_view(author_id: int) -> Question[OwnView]:
    """The author of a new post, as its answer needs it: profile and viewer state. Two commands."""
    return ask_both(profiles.ask_uncopied([author_id]), ask_viewer_state(author_id))


@beginning_again
def get_published_json(author_id: int, post: PublishedPost, asked: Question[OwnView]) -> bytes:
    """The Status of the author's own post, as a read of it is now, also while the caches lack it.

    `asked`: `ask_own_view`, which has shared the round trip of the write. Raises: PostNotFound if
    the post is deleted or hidden. Cost: nothing for a post that was written just now; for an
    earlier one as load_status_json, and if the caches lack it, one query more, and as
    get_interaction_json.
    """
    if post.written is not None and (status := _present_written(post.written, *asked.value)):
        return status
    if statuses := load_status_json([post.post_id], author_id):
        return statuses[post.post_id]
    if not read_posts(shard_of(author_id), [post.post_id]):
        raise PostNotFound
    return get_interaction_json(author_id, post.post_id, post.post_id)


def _present_written(
    written: WrittenPost, authors: Mapping[int, bytes], state: ViewerState
) -> bytes | None:
    """None if the author is not shown. Only the author can have seen the post: it has no
    responses, and no flags but that of its thread."""
    row = written.row
    if row is None or row.author_id not in authors:
        return None
    post_id = PostId.at(row.author_id, row.moment)
    account = present_account(authors[row.author_id], entry_of(written.counts).payload)
    hydrated = Hydrated({post_id: encode_post(row)}, {row.author_id: account}, {})
    viewed = view([post_id], hydrated, PostViewer(row.author_id, state=state))
    return viewed.present(post_id, post_id)


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
