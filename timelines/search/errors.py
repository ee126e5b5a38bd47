"""Errors of searches."""

from infra.api.errors import TokenInvalid


class SearchNeedsToken(TokenInvalid):
    """A guest asked for a deeper page, or to resolve. As Mastodon answers."""

    text = "Without a token, searches have one page and resolve nothing"
