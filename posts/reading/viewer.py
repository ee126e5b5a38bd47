"""The viewer of posts: relationships, flags and filters."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from infra.caching.questions import Question, ask_both
from posts.cache.viewer_state import ask_viewer_state, load_flags
from posts.cache.viewer_state_payload import NO_STATE, ViewerState
from posts.fragments.present import Flags
from posts.ids import PostId
from posts.rules import may_see
from relations.queries.relationships import ask_relationships
from relations.types import Relationship


class PostViewer(NamedTuple):
    """`account_id` None: a guest. `relationships`: with all authors of the posts in question."""

    account_id: int | None
    relationships: Mapping[int, Relationship] = {}
    state: ViewerState = NO_STATE

    def load_flags(self, posts: Mapping[PostId, bytes]) -> Flags:
        """The flags of these posts, and perhaps of other posts. `posts`: with their texts."""
        if self.account_id is None:
            return {}
        return load_flags(self.account_id, self.state, posts)

    def sees_all(self, authors: Mapping[int, bytes]) -> bool:
        """Whether the viewer may see open posts of all of them. `authors`: their Account JSON."""
        return may_see(self.account_id, authors, self.relationships)


def ask_viewer(account_id: int | None, authors: Collection[int]) -> Question[PostViewer]:
    """The viewer. `authors`: of the posts, and of the reposts that show them. Two commands."""
    if account_id is None:
        return Question((), lambda _: PostViewer(None))
    others = [author for author in authors if author != account_id]
    both = ask_both(ask_viewer_state(account_id), ask_relationships(account_id, others))
    return both.then(lambda parts: PostViewer(account_id, parts[1].by_account, parts[0]))
