"""Names of accounts: those that only operators give, and those that are offered to new people."""

import re
import secrets
import unicodedata
from functools import cache

from django.conf import settings

from accounts.models import USERNAME_LENGTH

# Readers believe that who has such a name speaks for the site.
OF_STAFF = frozenset(
    (
        "abuse", "admin", "administration", "administrator", "admins", "billing", "help",
        "helpdesk", "hostmaster", "info", "legal", "mod", "moderation", "moderator", "moderators",
        "mods", "noreply", "official", "operator", "operators", "owner", "postmaster", "press",
        "privacy", "root", "safety", "security", "service", "staff", "support", "sysadmin",
        "system", "team", "tideline", "trust", "trustandsafety", "webmaster",
    )
)  # fmt: skip
_NOT_IN_NAMES = re.compile(r"[^a-z0-9_]+")
# Letters that Unicode does not take apart.
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th"}
)


# Digits that are read as letters, and letters that look alike.
_LOOKS = str.maketrans("013457l", "oieasti")
_DIGITS = "0123456789"


def is_reserved(username: str) -> bool:
    """Whether only operators give this name: one of staff, or several of them (`support_team`).
    RESERVED_USERNAMES has more of them. Also with underscores, with digits at its ends, or with
    digits in the place of letters (`supp0rt`)."""
    plain = username.lower().replace("_", "")
    names = _pattern_of(tuple(settings.RESERVED_USERNAMES))
    return any(names.fullmatch(_look(text)) for text in (plain, plain.strip(_DIGITS)))


def propose_username(text: str) -> str:
    """A name like this one, or like what is before the @ of an address. Accents are left out; empty
    if no letter or digit is left. It may be taken."""
    name = unicodedata.normalize("NFKD", text.partition("@")[0].lower().translate(_LETTERS))
    shown = "".join(sign for sign in name if not unicodedata.combining(sign))
    return _NOT_IN_NAMES.sub("_", shown).strip("_")[:USERNAME_LENGTH]


def username_of_object(kind: str) -> str:
    """A name for a new thing of this kind, if its service gives none: no account can take it
    before."""
    return f"{kind}_{secrets.token_hex(7)}"


@cache
def _pattern_of(more: tuple[str, ...]) -> re.Pattern[str]:
    words = {_look(name.lower().replace("_", "")) for name in (*OF_STAFF, *more)} - {""}
    return re.compile(f"(?:{'|'.join(map(re.escape, words))})+[0-9]*")


def _look(name: str) -> str:
    return name.translate(_LOOKS).replace("rn", "m").replace("vv", "w")
