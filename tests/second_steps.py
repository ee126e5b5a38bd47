"""Authenticator apps as people have them, and the forms that they fill in."""

import hmac
import re
import struct
import time
from base64 import b32decode
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse

from tests.integration.pages.browsing import Browser
from tests.sign_ups import PASSWORD

PLACE = "/settings/second_step"
STEP = "/auth/second_step"
STEP_S, DIGITS = 30, 6
# For a browser on a crowded machine.
ROOM_S = 8
KEY = re.compile(r"Key: <code>([A-Z2-7]+)</code>")
CODES = re.compile(r"<li><code>([a-z2-7-]+)</code>")


@dataclass
class App:
    """Computes codes by itself (RFC 6238), with what the page shows."""

    key: str

    def code(self, steps: int = 0) -> str:
        """Of now, or of so many half minutes later. That of the one before is good for the rest of
        this one, so shortly before the turn it waits."""
        left_s = STEP_S - time.time() % STEP_S
        if steps < 0 and left_s < ROOM_S:
            time.sleep(left_s)
        moment = struct.pack(">Q", int(time.time()) // STEP_S + steps)
        digest = hmac.digest(b32decode(self.key), moment, "sha1")
        (number,) = struct.unpack_from(">I", digest, digest[-1] & 15)
        return f"{(number & 0x7FFFFFFF) % 10**DIGITS:0{DIGITS}}"


def sign_in_by_password(name: str, there: str = "/") -> Browser:
    """A new browser, after the first step."""
    browser = Browser()
    browser.answer = give_password(browser, name, there)
    return browser


def give_password(browser: Browser, name: str, there: str = "/") -> HttpResponse:
    return browser.send("/auth/sign_in", {"username": name, "password": PASSWORD, "next": there})


def add_app(browser: Browser) -> tuple[App, list[str]]:
    """The person's new app, and the recovery codes. It uses up the code of the half minute before,
    so that a test has two others at once."""
    app = read_app(browser)
    answer = browser.send(f"{PLACE}/app", {"code": app.code(-1)})
    assert answer.status_code == 200, (answer.status_code, answer.content)
    return app, CODES.findall(answer.content.decode())


def read_app(browser: Browser) -> App:
    """What the page offers."""
    (key,) = KEY.findall(browser.read(f"{PLACE}/app"))
    return App(key)


def give_code(browser: Browser, code: str) -> Any:
    return browser.send(STEP, {"code": code})
