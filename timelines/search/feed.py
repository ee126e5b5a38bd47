"""The posts that a search finds, newest first: public ones of all shards, or a library."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from accounts.encode import is_indexable
from infra.caching.questions import answer
from infra.clock import now_ms
from infra.sharding.buckets import is_owned, shard_of
from infra.sharding.scatter import scatter_available
from infra.sharding.shards import shard_aliases
from posts.ids import PostId, second_of
from posts.queries.library import search_library
from posts.queries.search import WordSearch, search_words
from posts.reading.statuses import load_status_json
from relations.visibility import Surface
from timelines.feeds.feed import collect
from timelines.search.cache import ask_hits, keep_hits
from timelines.search.types import PostSearch
from timelines.types import Entry

# Posts that the viewer may not see are replaced by older ones, so many times.
MOST_ROUNDS = 4
# More than a page, so that most searches need one round.
SPARE = 10


def search_statuses(search: PostSearch, clock_s: Callable[[], float] = time.time) -> list[bytes]:
    """Status entities of the newest public posts with the words, or of those of the viewer's
    library, as the viewer may see them.

    Posts of accounts that the viewer mutes are left out, and posts of others that searches may not
    find. Shards that do not answer are left out. New posts may be found TTL_S later.
    Raises: OperationalError, InterfaceError if no shard answers. Cost: one query on each shard, or
    on that of the author, and none if the same was searched just now; what `load_status_json`
    costs. The same again for each round after the first. For the
    library as `search_library`, and nothing is kept.
    """
    wanted = search.offset + search.limit
    words = WordSearch(
        search.words,
        wanted + SPARE,
        search.author_id,
        search.unwanted_author_ids,
        search.above,
        search.below,
        search.traits,
    )

    def show(entries: Sequence[Entry]) -> list[bytes]:
        return _load_shown([entry.event for entry in entries], search)

    entries = _iter_found(search, words, clock_s)
    return collect(show, entries, wanted, words.limit)[search.offset :]


def _iter_found(
    search: PostSearch, words: WordSearch, clock_s: Callable[[], float]
) -> Iterator[Entry]:
    """Newest first, each read when the entries of the one before it are used up."""
    for _ in range(MOST_ROUNDS):
        if search.in_library:
            ids = search_library(search.viewer_id, words)
        else:
            ids = _ask(words, second_of(clock_s()))
        yield from map(Entry.of_post, ids)
        if len(ids) < words.limit:
            break
        words = words._replace(below=ids[-1])


def _ask(words: WordSearch, now_second: int) -> list[PostId]:
    """The newest posts of all shards that answer, newest first."""
    if words.author_id is not None:
        return search_words(shard_of(words.author_id), words, now_second)
    kept = answer(ask_hits(words))
    if kept is not None:
        return kept
    calls = {alias: partial(_ask_shard, alias, words, now_second) for alias in shard_aliases()}
    answers = scatter_available(calls)
    ids = sorted(chain.from_iterable(answers.values()), reverse=True)[: words.limit]
    if len(answers) == len(calls):
        keep_hits(words, ids)
    return ids


def _ask_shard(alias: str, words: WordSearch, now_second: int) -> list[PostId]:
    """Without the posts of authors who are moving to this shard, or have moved away."""
    ids = search_words(alias, words, now_second)
    return [post_id for post_id in ids if is_owned(alias, post_id.author_id)]


def _load_shown(ids: Sequence[PostId], search: PostSearch) -> list[bytes]:
    """What the viewer has in the library is found also if its author is not to be found."""
    viewer_id = search.viewer_id
    entities = load_status_json(ids, viewer_id, Surface.BROUGHT, now_ms())
    return [
        text
        for post_id, text in entities.items()
        if search.in_library or post_id.author_id == viewer_id or is_indexable(text)
    ]
