"""Hydration: posts with their authors and counts, from Redis in one round trip when warm."""

import time
from collections.abc import Collection, Mapping
from typing import NamedTuple

from accounts.queries.load import ask_accounts
from infra.caching.questions import Question, answer, ask_both
from posts.cache.counts import ask_counts
from posts.cache.single_posts import Fragments
from posts.cache.weeks import ask_weeks
from posts.fragments.places import for_viewer
from posts.fragments.present import NO_COUNTS, is_repost, present_repost, present_status
from posts.ids import PostId, authors_of


class Hydrated(NamedTuple):
    """Posts with everything that their JSON needs, except the viewer's flags.

    `fragments`: of the posts that exist. `accounts`: Account JSON by author. `counts`: JSON by
    post.
    """

    fragments: Fragments
    accounts: Mapping[int, bytes]
    counts: Mapping[PostId, bytes]

    def has_both(self, event: PostId, original: PostId) -> bool:
        """Whether the event, its original and both authors exist, and the original is no repost.

        The fragment of a repost is no JSON without its original.
        """
        return (
            event in self.fragments
            and original in self.fragments
            and not is_repost(self.fragments[original])
            and event.author_id in self.accounts
            and original.author_id in self.accounts
        )

    def present(
        self, event: PostId, original: PostId, viewer_id: int | None, flags: int = 0
    ) -> bytes:
        """The Status entity of a post, or of a repost around its original.

        Both must exist (`has_both`). `flags`: the viewer's flags of the original.
        """
        counts, account = self.counts.get(original, NO_COUNTS), self.accounts[original.author_id]
        whole = present_status(self.fragments[original], account, counts, flags)
        status = for_viewer(whole, viewer_id, original.author_id)
        if event is original or event == original:
            return status
        by = self.accounts[event.author_id]
        return present_repost(self.fragments[event], by, status, counts, flags)


def ask_posts(ids: Collection[PostId], reposts: Collection[PostId] = ()) -> Question[Hydrated]:
    """The posts of `ids`, and the `reposts` that show some of them; these have no counts.

    Cost: a command for each author and week, and three more; no SQL when warm. What Redis lacks is
    read from its shard, once.
    """
    every = {*ids, *reposts}
    fragments: Fragments = {}

    def note_existing(loaded: Fragments) -> Fragments:
        fragments.update(loaded)
        return loaded

    posts = ask_weeks(every, time.time()).then(note_existing)
    counts = ask_counts(list(dict.fromkeys(ids)), fragments)
    asked = ask_both(ask_both(posts, ask_accounts(authors_of(every))), counts)
    return asked.then(lambda parts: Hydrated(*parts[0], parts[1]))


def hydrate(ids: Collection[PostId], reposts: Collection[PostId] = ()) -> Hydrated:
    """As `ask_posts`, in a round trip of its own."""
    return answer(ask_posts(ids, reposts))
