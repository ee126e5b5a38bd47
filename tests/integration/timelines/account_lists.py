"""Account lists' timelines as clients read them, page after page."""

from infra.api.pages import Window
from posts.ids import PostId
from tests.integration.timelines.homes import ids_of
from timelines.feeds.list import account_list_page


def read_page(owner, list_id, limit=40, **cursor):
    return ids_of(account_list_page(owner, list_id, Window(limit, **cursor)).items)


def read_to_end(owner, list_id, limit):
    found, cursor = [], None
    while True:
        page = account_list_page(owner, list_id, Window(limit, max_id=cursor))
        found += ids_of(page.items)
        cursor = page.older
        if cursor is None:
            return found


def read_from_bottom(owner, list_id, limit):
    found, cursor = [], PostId(0, 0, 0).public
    while page := read_page(owner, list_id, limit, min_id=cursor):
        found, cursor = page + found, page[0]
    return found
