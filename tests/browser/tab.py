"""A tab, in the words of who sits before it. What goes wrong unseen is in `faults`."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

from django.test import Client
from playwright.async_api import (
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Response,
    Route,
    WebError,
)
from playwright.async_api import expect as expecting

from tests.browser.driving import Driven
from tests.waiting import PATIENCE_S, until

# Sooner than whoever waits for Playwright's answer, which says what was not found.
PATIENCE_MS = 1_000 * PATIENCE_S // 3
# Of what was still asked when the page was left.
LEFT = "net::ERR_ABORTED"
NO_TRANSITION = "ViewTransition opt-in disabled"


class Size(NamedTuple):
    width: int
    height: int

    @property
    def is_phone(self) -> bool:
        return self.width < 600


DESKTOP, PHONE = Size(1280, 800), Size(390, 844)


class Look(NamedTuple):
    """What a browser is set to, as far as pages notice."""

    size: Size = DESKTOP
    scheme: Literal["light", "dark"] = "light"
    has_scripts: bool = True
    is_still: bool = False
    # Else the machine's, and of POSIX scripts know no numbers.
    locale: str = "en-GB"
    # None: the machine's.
    zone: str | None = None


class Tab:
    """In a profile of its own. Every call returns when its effect is there, or fails."""

    def __init__(self, driven: Driven, address: str, look: Look) -> None:
        size = look.size
        self.faults: list[str] = []
        self.address, self.size = address, size
        self._do = driven.do
        self._forgiven: set[str] = set()
        self._context: BrowserContext = self._do(
            driven.browser.new_context(
                base_url=address,
                viewport={"width": size.width, "height": size.height},
                is_mobile=size.is_phone,
                has_touch=size.is_phone,
                locale=look.locale,
                timezone_id=look.zone,
                color_scheme=look.scheme,
                java_script_enabled=look.has_scripts,
                reduced_motion="reduce" if look.is_still else "no-preference",
            )
        )
        self._context.set_default_timeout(PATIENCE_MS)
        expecting.set_options(timeout=PATIENCE_MS)
        self.page: Page = self._do(self._context.new_page())
        self._do(self._watch())

    def close(self) -> None:
        self._do(self._context.close())

    def sign_in(self, user: Any) -> None:
        """As if they had been at the form before."""
        client = Client()
        # pytest loads this module before Django is ready, if the folder is named at the call.
        import_module("tests.callers").sign_in(client, user)
        self.add_cookie("sessionid", client.cookies["sessionid"].value)

    def add_cookie(self, name: str, value: str) -> None:
        cookie = {"name": name, "value": value, "url": self.address}
        self._do(self._context.add_cookies([cookie]))

    def forget(self) -> None:
        """As if the session had ended."""
        self._do(self._context.clear_cookies())

    def open(self, path: str, status: int = 200) -> None:
        if status != 200:
            self._forgiven.add(self.address + path)
        answer = self._do(self.page.goto(path))
        assert answer.status == status, (path, answer.status)

    def fill(self, label: str, text: str) -> None:
        self._do(self.page.get_by_label(label).fill(text))

    def type_into(self, selector: str, text: str) -> None:
        """For a field whose label others have too."""
        self._do(self.find(selector).fill(text))

    def choose(self, label: str, option: str) -> None:
        self._do(self.page.get_by_label(label).select_option(label=option))

    def tick(self, label: str) -> None:
        self._do(self.page.get_by_label(label).check())

    def choose_image(self, selector: str, name: str, content: bytes) -> None:
        """Presses what asks for a file, and chooses an image with this name."""
        self._do(
            self._choose_image(selector, {"name": name, "mimeType": "image/png", "buffer": content})
        )

    def press(self, button: str) -> None:
        self._do(self.page.get_by_role("button", name=button, exact=True).click())

    def follow(self, link: str) -> None:
        self._do(self.page.get_by_role("link", name=link, exact=True).first.click())

    @contextmanager
    def in_window_of(self, button: str) -> Iterator[None]:
        """In the window that this button opens. It closes by itself."""
        own, self.page = self.page, self._do(self._open_window(button))
        yield
        until(self.page.is_closed, PATIENCE_MS / 1_000, said=lambda: self.page.url)
        self.page = own

    def type_key(self, key: str) -> None:
        self._do(self.page.keyboard.press(key))

    def type_key_into(self, selector: str, key: str) -> None:
        """Also if a script has given the focus to another element."""
        self._do(self.find(selector).press(key))

    def type_text(self, text: str) -> None:
        """Into what has the focus, letter by letter."""
        self._do(self.page.keyboard.type(text))

    def back(self) -> None:
        self._do(self.page.go_back())

    def click(self, selector: str) -> None:
        self._do(self.find(selector).click())

    def behind(self) -> None:
        """Pages that are opened from now on are behind other windows."""
        script = "Object.defineProperty(document, 'hidden', {value: true, configurable: true})"
        self._do(self.page.add_init_script(script))

    def hover(self, selector: str) -> None:
        self._do(self.find(selector).hover())

    def refuse(self, pattern: str) -> None:
        """As if no server were there for these addresses."""
        self._do(self._context.route(pattern, lambda route: route.abort("connectionrefused")))

    def answer_busy(self, pattern: str, retry_s: int) -> None:
        """As if the server had too many requests for these addresses."""
        headers = {"Retry-After": str(retry_s)}
        self._do(
            self._context.route(pattern, lambda route: route.fulfill(status=429, headers=headers))
        )

    @contextmanager
    def answers_after_s(self, pattern: str, seconds: float) -> Iterator[None]:
        """As if the way to the server were long for these addresses, as long as the block runs."""

        async def wait(route: Route) -> None:
            await asyncio.sleep(seconds)
            await route.fallback()

        self._do(self._context.route(pattern, wait))
        yield
        self._do(self._context.unroute(pattern, wait))

    def answer(self, pattern: str, body: Any) -> None:
        """As if the server answered this JSON at these addresses."""
        self._do(self._context.route(pattern, lambda route: route.fulfill(json=body)))

    def refuse_nothing(self) -> None:
        self._do(self._context.unroute_all())

    def see(self, *texts: str) -> None:
        """Each is shown, now or within PATIENCE_MS."""
        for text in texts:
            try:
                self.expect(self._shown(text).first).to_be_visible()
            except AssertionError as error:
                raise AssertionError(f"{text!r} is not shown, but:\n{self._content()}") from error

    def see_after_reloads(self, text: str) -> None:
        """For a page that may ask its reader to try again in a second."""
        until(lambda: self._do(self._shown(text).count()) or self._reload(), said=self._content)

    def see_no(self, text: str) -> None:
        self.expect(self._shown(text)).to_have_count(0)

    def expect(self, what: Any) -> Any:
        """Playwright's assertions, each of which waits until it holds."""
        return _Waiting(self._do, expecting(what))

    def at(self, path: str) -> None:
        """This is the page it led to; a query may follow."""
        self.expect(self.page).to_have_url(re.compile(re.escape(self.address + path) + r"(\?|$)"))

    @contextmanager
    def dark(self) -> Iterator[None]:
        """As for a person whose machine asks for dark pages."""
        self._do(self.page.emulate_media(color_scheme="dark"))
        yield
        self._do(self.page.emulate_media(color_scheme="light"))

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def run(self, script: str) -> Any:
        return self._do(self.page.evaluate(script))

    def count(self, what: Locator) -> int:
        return int(self._do(what.count()))

    def wait(self, condition: str) -> None:
        """Until this expression is true on the page."""
        until(lambda: self.run(condition), PATIENCE_MS / 1_000, said=lambda: condition)

    def overflow_px(self) -> int:
        """By how much the page is wider than the window."""
        return int(self.run("document.scrollingElement.scrollWidth")) - self.size.width

    def shoot(self, path: Path) -> None:
        """A picture of the whole page, as far as one scrolls down."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._do(self.page.screenshot(path=path, full_page=True, animations="disabled"))

    def picture(self) -> bytes:
        """A PNG of what the window shows."""
        return bytes(self._do(self.page.screenshot()))

    def _shown(self, text: str) -> Locator:
        """Elements with this in their text, in this case."""
        return self.page.get_by_text(re.compile(re.escape(text))).filter(visible=True)

    def _reload(self) -> None:
        self._do(self.page.reload())

    def _content(self) -> str:
        return str(self._do(self.page.locator("main, body").last.inner_text()))

    async def _open_window(self, button: str) -> Page:
        async with self.page.expect_popup() as opened:
            await self.page.get_by_role("button", name=button, exact=True).click()
        return await opened.value

    async def _choose_image(self, selector: str, file: Any) -> None:
        async with self.page.expect_file_chooser() as asked:
            await self.find(selector).click()
        await (await asked.value).set_files(file)

    async def _watch(self) -> None:
        """All windows, because a page may open one."""
        self._context.on("console", self._hear)
        self._context.on("weberror", self._raise)
        self._context.on("requestfailed", self._fail)
        self._context.on("response", self._answer)

    def _raise(self, error: WebError) -> None:
        """Without scripts no page can skip the transition to one that has none, and the browser
        says so: nothing is wrong."""
        if NO_TRANSITION not in str(error.error):
            self.faults.append(f"raised: {error.error}")

    def _hear(self, message: ConsoleMessage) -> None:
        """Also what the content policy forbids is told to the console."""
        if message.type in ("error", "warning") and message.location["url"] not in self._forgiven:
            self.faults.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _fail(self, request: Request) -> None:
        if request.failure != LEFT:
            self.faults.append(f"failed: {request.url}: {request.failure}")

    def _answer(self, answer: Response) -> None:
        if answer.status >= 400 and answer.url not in self._forgiven:
            self.faults.append(f"{answer.status}: {answer.url}")


class _Waiting:
    """Playwright's assertions without `await`."""

    def __init__(self, do: Any, assertions: Any) -> None:
        self._do, self._assertions = do, assertions

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: self._do(getattr(self._assertions, name)(*args, **options))
