"""Finds the accounts and tags that the text of a post links to."""

from accounts.queries.users import find_account_ids
from accounts.texts.links import find_links, is_here, normalize_tag
from posts.types import PostLinks


def read_links(text: str) -> PostLinks:
    """The accounts of this site that the text mentions, and its tags.

    Names of unknown accounts stay text. Cost: one query if the text has names; nothing for others.
    """
    links = find_links(text)
    names = dict.fromkeys(name.name for name in links.names if is_here(name))
    known = find_account_ids(names) if names else {}
    mentions = tuple((known[name], name) for name in names if name in known)
    return PostLinks(mentions, tuple(dict.fromkeys(normalize_tag(tag.text) for tag in links.tags)))
