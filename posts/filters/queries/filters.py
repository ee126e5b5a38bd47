"""Filters from their owner's shard. Only the owner reads them."""

import msgspec

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.filters.account_filters import AccountFilters
from posts.filters.sql import select_filters
from posts.filters.types import PostFilter

READ = select_filters("%s")
_decoder = msgspec.json.Decoder(PostFilter)


def get_filter_book(owner_id: int) -> AccountFilters:
    """All filters of an account, to look something up in them. One query."""
    return AccountFilters(list_filters(owner_id), next_id=0)


def list_filters(owner_id: int) -> list[PostFilter]:
    """All filters of an account, the oldest first. One query, at most MOST_FILTERS rows."""
    rows = fetch_all(shard_of(owner_id), READ, [[owner_id]])
    return [_decoder.decode(rule) for _, rule in rows]
