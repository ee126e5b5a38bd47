"""The posts of a report as moderators read them: with their text, even if they are hidden."""

from collections.abc import Iterable

from posts.ids import PostId
from posts.queries.rows import find_post_text


def load_reported(post_ids: Iterable[str]) -> dict[str, str]:
    """One line of text for each post, by public id. One query by key for each post.

    A report has at most `moderation.api.parse.MOST_POSTS` posts.
    """
    return {public: _describe(PostId.from_public(public)) for public in post_ids}


def _describe(post_id: PostId) -> str:
    post = find_post_text(post_id)
    if post is None or post.is_deleted:
        return "(deleted)"
    words = f"{post.spoiler_text} · {post.text}" if post.spoiler_text else post.text
    return f"(hidden) {words}" if post.is_hidden else words
