"""The timeline of an open page, as who reads it sees it."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.request import Request, urlopen

import orjson

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from pages.sessions import COOKIE, issue_session
from tests.browser.tab import Tab
from tests.callers import token_of
from tests.world import make_account

ENTRY = "#timeline > .entry"
IDS = f"[...document.querySelectorAll('{ENTRY}')].map((one) => one.dataset.id)"
DOWN = "scrollTo(0, document.scrollingElement.scrollHeight)"
# Where the post in the middle of the window is, from the top of the window.
READING = f"""(() => {{
  const middle = [...document.querySelectorAll("{ENTRY}")].find(
    (one) => one.getBoundingClientRect().bottom > innerHeight / 2);
  return [middle.dataset.id, Math.round(middle.getBoundingClientRect().top)];
}})()"""


def enter(tab: Tab, account_id: int) -> None:
    """Signed in to the pages, as after their form."""
    tab.add_cookie(COOKIE, issue_session(account_id).token)


def ids_in(tab: Tab) -> list[str]:
    """The ids of the entries, in their order."""
    ids: list[str] = tab.run(IDS)
    return ids


def reading_at(tab: Tab) -> Any:
    return tab.run(READING)


def read_to_end(tab: Tab, after_page: Callable[[], object] = list) -> None:
    """Scrolls down as long as older posts come. `after_page` is called once for each page."""
    older = tab.find(".older")
    while tab.count(older):
        before = len(ids_in(tab))
        after_page()
        tab.run(DOWN)
        tab.wait(f"document.querySelectorAll('{ENTRY}').length > {before}")


def write_post(tab: Tab, text: str) -> None:
    """Returns when the site has the post: the button alone only sends it."""
    tab.fill("Your post", text)
    tab.press("Post")
    tab.see("Posted.")


def sign_out(tab: Tab, name: str) -> None:
    """By the menu of the own account, on a window that is wider than a phone."""
    tab.click(".own > summary")
    tab.press(f"Sign out @{name}")


def make_named(name: str) -> int:
    """An account with a name for people: `ben` is shown as Ben."""
    account_id = make_account(name)
    update_profile(account_id, ProfileEdit(display_name=name.capitalize()))
    return account_id


def send(
    address: str, account_id: int, path: str, data: Mapping[str, Any] = {}, method: str = "POST"
) -> Any:
    """A write by an application of this account. The JSON of the answer."""
    request = Request(
        f"{address}/api/v1/{path}",
        orjson.dumps(data),
        {"Authorization": f"Bearer {token_of(account_id)}", "Content-Type": "application/json"},
        method=method,
    )
    with urlopen(request) as answer:
        return orjson.loads(answer.read())
