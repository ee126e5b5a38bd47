"""Passkeys of a real browser with an authenticator inside it, and codes typed into its forms."""

from collections.abc import Callable, Iterator

import pytest
from django_otp_webauthn.models import WebAuthnCredential

from accounts.models import User
from lab.runner.port import free_port
from tests.browser.artifacts import ARTIFACTS, SHOTS
from tests.browser.axe import faults_of
from tests.browser.driving import Driven
from tests.browser.serving import running_site
from tests.browser.tab import DESKTOP, PHONE, Look, Size, Tab
from tests.people import make_boss
from tests.second_steps import PLACE, App

PASSWORD = "a-password-of-tests-0123"
DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Authenticator:
    """One inside the browser of a tab, as a telephone has it."""

    def __init__(self, tab: Tab) -> None:
        self._do = tab._do
        self._session = self._do(tab.page.context.new_cdp_session(tab.page))
        self._send("WebAuthn.enable")
        self.id = self._send("WebAuthn.addVirtualAuthenticator", options=DEVICE)["authenticatorId"]

    def credentials(self) -> list[dict[str, object]]:
        found = self._send("WebAuthn.getCredentials", authenticatorId=self.id)
        credentials: list[dict[str, object]] = found["credentials"]
        return credentials

    def refuse(self) -> None:
        """As a person whose finger is not known."""
        self._send("WebAuthn.setUserVerified", authenticatorId=self.id, isUserVerified=False)
        self._send(
            "WebAuthn.setAutomaticPresenceSimulation", authenticatorId=self.id, enabled=False
        )
        self._send("WebAuthn.removeVirtualAuthenticator", authenticatorId=self.id)

    def _send(self, method: str, **words: object) -> dict[str, object]:
        answer: dict[str, object] = self._do(self._session.send(method, words))
        return answer


@pytest.fixture(scope="module")
def secure(databases: None, worker_id: str) -> Iterator[str]:
    """By its name: an address in numbers has no passkeys."""
    ARTIFACTS.mkdir(exist_ok=True)
    port = free_port()
    environment = {"PUBLIC_URL": f"http://localhost:{port}"}
    log = ARTIFACTS / f"web-passkeys-{worker_id}.log"
    with running_site(log, port=port, environment=environment):
        yield environment["PUBLIC_URL"]


@pytest.fixture
def tab_there(world: None, browser: Driven, secure: str) -> Iterator[Callable[..., Tab]]:
    tabs: list[Tab] = []

    def make(size: Size = DESKTOP, **look: object) -> Tab:
        tabs.append(Tab(browser, secure, Look(size, **look)))
        return tabs[-1]

    yield make
    for number, tab in enumerate(tabs):
        tab.shoot(SHOTS / f"second-step-last-{number}.png")
        tab.close()
    assert [fault for tab in tabs for fault in tab.faults] == []


@pytest.fixture
def boss(world: None) -> User:
    return make_boss("boss", PASSWORD)


def give_password(tab: Tab, there: str = "/admin/") -> None:
    tab.open(f"/auth/sign_in?next={there}")
    tab.fill("Username or e-mail address", "boss")
    tab.fill("Password", PASSWORD)
    tab.press("Sign in")


def add_passkey(tab: Tab) -> None:
    give_password(tab, PLACE)
    tab.at(PLACE)
    tab.click(f"a[href='{PLACE}/passkey']")
    tab.fill("Name", "My phone")
    tab.press("Add the passkey")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_passkey_is_added_and_opens_the_admin(
    boss: User, tab_there: Callable[..., Tab], size: Size
) -> None:
    tab = tab_there(size)
    device = Authenticator(tab)
    add_passkey(tab)
    tab.see("Write these down")
    assert len(device.credentials()) == 1
    tab.follow("I have written them down")
    tab.see("My phone", "10 left")
    tab.forget()
    give_password(tab)
    tab.at("/auth/second_step")
    tab.shoot(SHOTS / f"second-step-question-{size.width}.png")
    assert faults_of(tab) == []
    tab.press("Use a passkey")
    tab.at("/admin/")
    tab.see("Live charts")
    assert WebAuthnCredential.objects.get().last_used_at is not None


def test_a_device_has_one_passkey_of_a_person(boss: User, tab_there: Callable[..., Tab]) -> None:
    tab = tab_there()
    device = Authenticator(tab)
    add_passkey(tab)
    tab.follow("I have written them down")
    tab.click(f"a[href='{PLACE}/passkey']")
    tab.press("Add the passkey")
    tab.see("already has a passkey of yours")
    assert len(device.credentials()) == WebAuthnCredential.objects.count() == 1


def test_an_answer_is_accepted_once(boss: User, tab_there: Callable[..., Tab]) -> None:
    """What a browser sent once, sent again in the next session."""
    tab = tab_there()
    Authenticator(tab)
    add_passkey(tab)
    tab.see("Write these down")
    tab.forget()
    give_password(tab)
    tab.at("/auth/second_step")
    tab.run(
        "HTMLFormElement.prototype.submit = function () { window.sent = this.passkey.value }; 0"
    )
    tab.press("Use a passkey")
    tab.wait("window.sent")
    sent = tab.run("window.sent")
    assert send_passkey(tab, sent) == ["/admin/", 200]
    tab.forget()
    give_password(tab)
    tab.at("/auth/second_step")
    assert send_passkey(tab, sent) == ["/auth/second_step", 422]
    tab.open("/admin/")
    tab.at("/auth/sign_in")


def send_passkey(tab: Tab, sent: str) -> list[object]:
    """The path and the status of the answer."""
    tab.run(f"window.sent = {sent!r}")
    answer: list[object] = tab.run("""(async () => {
      const form = new FormData(document.querySelector("form[data-passkey]"));
      form.set("passkey", window.sent);
      const answer = await fetch(location.href, {method: "POST", body: form});
      return [new URL(answer.url).pathname, answer.status];
    })()""")
    tab.faults.clear()  # the browser names an answer with 422
    return answer


def test_a_browser_without_a_passkey_offers_the_code(
    boss: User, tab_there: Callable[..., Tab]
) -> None:
    tab = tab_there()
    device = Authenticator(tab)
    add_passkey(tab)
    tab.see("Write these down")
    code = tab.run("document.querySelector('.codes code').textContent")
    tab.forget()
    give_password(tab)
    tab.at("/auth/second_step")
    device.refuse()
    Authenticator(tab)
    tab.press("Use a passkey")
    tab.see("Your browser gave no passkey")
    tab.fill("Recovery code", code)
    tab.press("Go on")
    tab.at("/admin/")


def test_an_app_is_added_and_used_without_scripts(
    boss: User, tab_there: Callable[..., Tab]
) -> None:
    tab = tab_there(has_scripts=False)
    give_password(tab, PLACE)
    tab.click(f"a[href='{PLACE}/app']")
    app = App(tab._do(tab.find(".help code").text_content()))
    tab.fill("Six digits that the app shows", app.code(-1))
    tab.press("Add the app")
    tab.see("Write these down")
    tab.forget()
    give_password(tab)
    tab.fill("Code of your app", app.code())
    tab.press("Go on")
    tab.at("/admin/")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_axe_finds_nothing(boss: User, tab_there: Callable[..., Tab], size: Size) -> None:
    tab = tab_there(size)
    give_password(tab, PLACE)
    found = {}
    for part in ("", "/app", "/passkey"):
        tab.open(PLACE + part)
        found[part] = faults_of(tab)
        assert tab.overflow_px() <= 0
        tab.shoot(SHOTS / f"second-step{part.replace('/', '-')}-{size.width}.png")
    tab.open(f"{PLACE}/app")
    app = App(tab._do(tab.find(".help code").text_content()))
    tab.fill("Six digits that the app shows", app.code(-1))
    tab.press("Add the app")
    tab.see("Write these down")
    found["codes"] = faults_of(tab)
    tab.shoot(SHOTS / f"second-step-codes-{size.width}.png")
    tab.open(PLACE)
    found["with an app"] = faults_of(tab)
    tab.shoot(SHOTS / f"second-step-with-{size.width}.png")
    assert {part: faults for part, faults in found.items() if faults} == {}
