"""Account ids as people and clients send them: decimal text."""

MAX_ACCOUNT_ID = 36**6 - 1


def parse_account_id(text: object) -> int | None:
    """The id, or None when the text cannot name an account."""
    if not isinstance(text, str) or not text.isascii() or not text.isdigit() or len(text) > 10:
        return None
    value = int(text)
    return value if 0 < value <= MAX_ACCOUNT_ID else None
