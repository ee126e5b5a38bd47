"""Finds the accounts and tags that the text of a post links to."""

from collections.abc import Mapping, Sequence

from accounts.queries.users import find_account_ids
from accounts.texts.links import TextLinks, find_links, is_here, normalize_tag
from posts.types import PostLinks


def read_links(text: str) -> PostLinks:
    """The accounts of this site that the text mentions, and its tags.

    Names of unknown accounts stay text. Cost: one query if the text has names; nothing for others.
    """
    return read_all_links([text])[0]


def read_all_links(texts: Sequence[str]) -> list[PostLinks]:
    """As `read_links`, of each text. Cost: one query for all names."""
    links = list(map(find_links, texts))
    names = {name.name: None for each in links for name in each.names if is_here(name)}
    known = find_account_ids(names) if names else {}
    return [_links_of(each, known) for each in links]


def _links_of(links: TextLinks, known: Mapping[str, int]) -> PostLinks:
    names = dict.fromkeys(name.name for name in links.names if is_here(name))
    mentions = tuple((known[name], name) for name in names if name in known)
    return PostLinks(mentions, tuple(dict.fromkeys(normalize_tag(tag.text) for tag in links.tags)))
