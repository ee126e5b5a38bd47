"""Mastodon's List entity."""

import orjson

from relations.lists.types import ListDescription


def present_list(account_list: ListDescription) -> bytes:
    return orjson.dumps(
        {
            "id": str(account_list.list_id),
            "title": account_list.title,
            "replies_policy": account_list.replies_policy.name.lower(),
            "exclusive": account_list.exclusive,
        }
    )
