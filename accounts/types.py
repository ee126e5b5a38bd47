"""Values of accounts."""

import msgspec


class Viewer(msgspec.Struct, frozen=True):
    """Who asks: DRF's `request.user`. `account_id` is None for an application without a user."""

    account_id: int | None
    application_id: int
    scopes: frozenset[str]
    token_id: int

    is_authenticated = True
