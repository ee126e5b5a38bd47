"""Names of accounts: those that only operators give, and those that are offered to new people."""

import re
import unicodedata

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


def is_reserved(username: str) -> bool:
    """Whether only operators give this name: one of staff, also with digits at its end or with
    underscores. RESERVED_USERNAMES has more of them."""
    plain = _plain(username)
    return plain in OF_STAFF or plain in map(_plain, settings.RESERVED_USERNAMES)


def propose_username(text: str) -> str:
    """A name like this one, or like what is before the @ of an address. Accents are left out; empty
    if no letter or digit is left. It may be taken."""
    name = unicodedata.normalize("NFKD", text.partition("@")[0].lower().translate(_LETTERS))
    shown = "".join(sign for sign in name if not unicodedata.combining(sign))
    return _NOT_IN_NAMES.sub("_", shown).strip("_")[:USERNAME_LENGTH]


def _plain(name: str) -> str:
    return name.lower().replace("_", "").rstrip("0123456789")
