"""What Tideline shows of a user of the product, unless `TIDELINE["PROFILE"]` says otherwise."""

import re
from collections.abc import Mapping
from typing import Any

LONGEST_USERNAME, LONGEST_NAME = 30, 100
NOT_IN_USERNAMES = re.compile(r"[^A-Za-z0-9_]+")


def external_id_of(user: Any) -> str:
    """The same in provisioning and in JWTs. It must never be given to another person."""
    return str(user.pk)


def profile_of(user: Any) -> Mapping[str, Any] | None:
    """`username` is used once, when the account is created.

    A function of your own may also return `note`, `locked`, `bot`, `discoverable`, `indexable` and
    `hide_collections`. It may return None for a user that shall have no account.
    """
    return {
        "username": username_of(user.get_username()),
        "display_name": user.get_full_name()[:LONGEST_NAME],
    }


def username_of(name: str) -> str:
    """Letters, digits and underscores: Tideline has no others. Not more of an e-mail address
    than what is before the @."""
    plain = NOT_IN_USERNAMES.sub("_", name.partition("@")[0] or name).strip("_")
    return plain[:LONGEST_USERNAME] or "user"


def other_username(username: str, external_id: str) -> str:
    """The name for a user whose name another account has already."""
    end = NOT_IN_USERNAMES.sub("", external_id)[-12:]
    return f"{username[: LONGEST_USERNAME - 1 - len(end)]}_{end}"
