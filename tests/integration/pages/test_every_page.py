"""Every page for a post of every kind and each reader; every link and every button there."""

import re
from html import unescape

import pytest
from django.test import override_settings

from posts.ids import PostId
from tests.integration.pages.browsing import Browser
from tests.integration.pages.post_kinds import make_cast, make_posts, missing_kinds
from tests.integration.pages.routes import list_pages
from tests.world import drain_all

# Not the link to the post that a reply answers: a list does not know whether the reader may see it.
LINK = re.compile(r'(?<!<p class="why">)<a [^>]*?href="(/[^"#]*)')
BUTTON = re.compile(r'<button [^>]*?formaction="(/statuses/[^"]*)')
SIGN_IN = "/auth/sign_in"


class Walk:
    """Reads pages and follows their links, each once."""

    def __init__(self, account_id: int | None) -> None:
        self.browser = Browser(account_id)
        self.browser.client.raise_request_exception = False
        self.statuses: dict[str, int] = {}
        self.buttons: dict[str, str] = {}
        self.dead_ends: dict[str, str] = {}

    def read(self, path: str) -> None:
        """The page itself may be absent for this reader. What it links to may not."""
        new = [(path, "")]
        while new:
            path, source = new.pop()
            if path in self.statuses:
                continue
            answer = self.browser.client.get(path)
            self.statuses[path] = answer.status_code
            if source and answer.status_code >= 400:
                self.dead_ends[path] = source
            if answer.status_code == 200 and not answer.streaming:
                page = answer.content.decode()
                new += [(unescape(link), path) for link in LINK.findall(page)]
                self.buttons |= dict.fromkeys(BUTTON.findall(page), path)

    def press_all(self) -> dict[str, str]:
        """Presses each button, and the one that it becomes. Returns those that fail, with a page
        that has them."""
        pressed = {path: self._press(path) for path in self.buttons}
        return {path: self.buttons[path] for path, status in pressed.items() if status != 303}

    def _press(self, path: str) -> int:
        post, _, act = path.rpartition("/")
        back = act.removeprefix("un") if act.startswith("un") else f"un{act}"
        statuses = [self.browser.send(f"{post}/{name}").status_code for name in (act, back)]
        return max(statuses)


@pytest.mark.slow
@override_settings(QUOTA_PER_ACCOUNT=1_000_000)
def test_every_page_is_there_for_every_kind_of_post(world: None) -> None:
    """A page or a kind that the registries do not know fails here: teach them."""
    posts = make_posts(cast := make_cast())
    assert [*missing_kinds()] == []
    names = {public: name for name, public in posts.items()}
    for reader in (*cast, None):
        walk = Walk(reader)
        for public in posts.values():
            for page in list_pages(cast.ann, PostId.from_public(public)):
                if page.method == "get":
                    walk.read(page.path)
        broken = {path for path, status in walk.statuses.items() if status >= 500}
        assert not broken, (reader, broken, names)
        assert walk.dead_ends == {}, (reader, names)
        assert walk.press_all() == {}, (reader, names)
        drain_all()
