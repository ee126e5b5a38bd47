"""Values of searches."""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

from posts.ids import FIRST, LAST, PostId
from posts.queries.search import ANY_POST, PostTraits, PostWords


class ResultType(StrEnum):
    """The lists of a search, as the API names them."""

    ACCOUNTS = "accounts"
    STATUSES = "statuses"
    HASHTAGS = "hashtags"


class AccountSearch(NamedTuple):
    """A search for accounts. `viewer_id` None: a guest.

    `offset`: how many of the best results to leave out. `is_following`: only accounts that the
    viewer follows.
    """

    text: str
    viewer_id: int | None
    limit: int
    offset: int = 0
    is_following: bool = False


class PostSearch(NamedTuple):
    """A search for posts strictly between two ids. `author_id`: only posts of this author.

    `unwanted_author_ids`: no posts of these. `in_library`: of the viewer's library.
    """

    words: PostWords
    viewer_id: int
    limit: int
    offset: int = 0
    author_id: int | None = None
    unwanted_author_ids: Sequence[int] = ()
    above: PostId = FIRST
    below: PostId = LAST
    traits: PostTraits = ANY_POST
    in_library: bool = False


class SearchRequest(NamedTuple):
    """A search for everything. `types`: the lists to fill; the others stay empty.

    `above`, `below`, `author_id`: for posts.
    """

    text: str
    viewer_id: int | None
    types: Collection[ResultType]
    limit: int
    offset: int = 0
    is_following: bool = False
    author_id: int | None = None
    above: PostId = FIRST
    below: PostId = LAST


class SearchResults(NamedTuple):
    """Ready-made entities of each type, best first."""

    accounts: Collection[bytes] = ()
    statuses: Collection[bytes] = ()
    hashtags: Collection[bytes] = ()
