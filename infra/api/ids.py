"""Account ids in requests: decimal text."""

MAX_ACCOUNT_ID = 36**6 - 1


def parse_account_id(text: object) -> int | None:
    """The id, or None when the text cannot name an account."""
    if not isinstance(text, str) or not text.isascii() or not text.isdigit() or len(text) > 10:
        return None
    value = int(text)
    return value if 0 < value <= MAX_ACCOUNT_ID else None


class AccountIdConverter:
    """`<account:account_id>` in routes: an int. Text that is no account id does not match."""

    regex = "[0-9]{1,10}"

    def to_python(self, value: str) -> int:
        account_id = parse_account_id(value)
        if account_id is None:
            raise ValueError(value)
        return account_id

    def to_url(self, value: int) -> str:
        return str(value)
