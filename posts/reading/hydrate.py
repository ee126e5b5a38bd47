"""Hydration: posts with their authors and counts, from Redis in one round trip when warm."""

import time
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from accounts.queries.load import ask_accounts
from infra.caching.questions import Question, answer, ask_both
from posts.cache.counts import ask_counts
from posts.cache.single_posts import Fragments
from posts.cache.weeks import ask_weeks
from posts.fragments.places import for_viewer
from posts.fragments.present import FLAGS, NO_COUNTS, STATUS, Flags, present_repost
from posts.fragments.reactions import LEAST_FLAG, with_own_reactions
from posts.fragments.read import is_repost
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
        [status] = self.splice([(event, original)], viewer_id, {original: flags})
        return status

    def splice(
        self, shown: Iterable[tuple[PostId, PostId]], viewer_id: int | None, flags: Flags
    ) -> list[bytes]:
        """The Status entities of pairs of a post, or a repost, and the post that it shows.

        All must exist (`has_both`). Each is joined in one step: nothing is parsed.
        """
        fragments, accounts, counts_of = self.fragments, self.accounts, self.counts.get
        statuses = []
        for event, original in shown:
            author_id, counts = original[1], counts_of(original, NO_COUNTS)
            bits = flags.get(original, 0) if flags else 0
            if bits >= LEAST_FLAG:
                counts, bits = with_own_reactions(counts, bits)
            parts = fragments[original], accounts[author_id], counts, FLAGS[bits]
            status = STATUS % parts
            if viewer_id is None or viewer_id == author_id:
                status = for_viewer(status, viewer_id, author_id)
            if event is not original and event != original:
                account = accounts[event.author_id]
                status = present_repost(fragments[event], account, status, counts, bits)
            statuses.append(status)
        return statuses


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
