"""Mastodon's List entity."""

import orjson

from relations.lists.types import ListDescription, ListSummary


def present_list(account_list: ListDescription) -> bytes:
    return orjson.dumps(_fields_of(account_list))


def present_summary(summary: ListSummary) -> bytes:
    """With its members, which Mastodon's entity does not have."""
    return orjson.dumps(
        {
            **_fields_of(summary.description),
            "members_count": summary.members_count,
            "sample_account_ids": [str(account_id) for account_id in summary.sample_ids],
        }
    )


def _fields_of(account_list: ListDescription) -> dict[str, object]:
    return {
        "id": str(account_list.list_id),
        "title": account_list.title,
        "replies_policy": account_list.replies_policy.name.lower(),
        "exclusive": account_list.exclusive,
    }
