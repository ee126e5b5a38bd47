"""What Tideline shows of a user of the product, unless `TIDELINE["PROFILE"]` says otherwise."""

import re
from collections.abc import Mapping
from secrets import choice
from typing import Any
from unicodedata import combining, normalize

LONGEST_USERNAME, LONGEST_NAME = 30, 100
NEUTRAL = "user"
NOT_IN_USERNAMES = re.compile(r"[^A-Za-z0-9_]+")
# Letters that Unicode does not take apart.
LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th"}
    | {"Æ": "Ae", "Œ": "Oe", "Ø": "O", "Đ": "D", "Ð": "D", "Ł": "L", "Þ": "Th"}
)
END_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
END_LENGTH = 5


def external_id_of(user: Any) -> str:
    """The same in provisioning and in JWTs. It must never be given to another person."""
    return str(user.pk)


def profile_of(user: Any) -> Mapping[str, Any] | None:
    """Another `username` renames the account, if no other account has it.

    A function of your own may also return `note`, `locked`, `bot`, `discoverable`, `indexable` and
    `hide_collections`. It may return None for a user that shall have no account.
    """
    return {
        "username": username_of(user.get_username()),
        "display_name": user.get_full_name()[:LONGEST_NAME],
    }


def username_of(name: str) -> str:
    """Letters without accents, digits and underscores: Tideline has no others. Not more of an
    e-mail address than what is before the @. Of a name in another script nothing is left: then the
    account gets a name that says nothing, and keeps it."""
    decomposed = normalize("NFKD", (name.partition("@")[0] or name).translate(LETTERS))
    letters = "".join(sign for sign in decomposed if not combining(sign))
    return NOT_IN_USERNAMES.sub("_", letters).strip("_")[:LONGEST_USERNAME]


def other_username(username: str) -> str:
    """The name for a user whose name another account has. Its end is drawn, each time another one:
    everybody reads usernames, and the id of a user in the product is not for everybody."""
    end = "".join(choice(END_LETTERS) for _ in range(END_LENGTH))
    return f"{username[: LONGEST_USERNAME - 1 - END_LENGTH]}_{end}"
