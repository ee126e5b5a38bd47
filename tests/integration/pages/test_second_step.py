"""Signing in with a second step: codes of an app and recovery codes, and what guards them."""

from datetime import timedelta
from functools import partial

import pytest
from axes.models import AccessAttempt
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from pytest_django import Settings

from accounts.actions.change_password import change_password
from accounts.models import AccessToken, User
from accounts.second_step.backend import accept_code
from infra.api.errors import TooManyRequests
from pages.sessions import COOKIE
from tests.integration.pages.browsing import Browser
from tests.integration.pages.test_pages_without_answers import silent
from tests.races import run_together
from tests.second_steps import (
    PLACE,
    STEP,
    App,
    add_app,
    give_code,
    give_password,
    read_app,
    sign_in_by_password,
)
from tests.sign_ups import FAST_HASHERS, PASSWORD
from tests.world import make_account


@pytest.fixture
def boss(world: None, settings: Settings) -> User:
    settings.PASSWORD_HASHERS = FAST_HASHERS
    user = User.objects.get(pk=make_account("boss"))
    user.is_staff = user.is_superuser = True
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def here(boss: User) -> Browser:
    """The browser in which boss adds things."""
    return sign_in_by_password("boss")


@pytest.fixture
def app(here: Browser) -> App:
    return add_app(here)[0]


@pytest.fixture
def impatient(settings: Settings) -> None:
    """Devices do not wait after failures."""
    settings.OTP_TOTP_THROTTLE_FACTOR = settings.OTP_STATIC_THROTTLE_FACTOR = 0


def is_in(browser: Browser) -> bool:
    """In the admin, and on the pages."""
    in_admin = browser.client.get("/admin/").status_code == 200
    on_pages = browser.client.get("/settings").status_code == 200
    assert in_admin == on_pages
    return in_admin


def test_without_a_second_step_the_password_is_enough(here: Browser) -> None:
    assert is_in(here)
    assert "Sign in again" not in here.read(PLACE)


def test_with_an_app_the_password_opens_nothing(app: App) -> None:
    browser = sign_in_by_password("boss", "/admin/find/")
    assert browser.answer["Location"] == STEP
    assert COOKIE not in browser.client.cookies
    for path in ("/admin/", "/settings", "/oauth/authorize", PLACE, f"{PLACE}/app"):
        assert browser.client.get(path).status_code in (302, 303), path
    assert AccessToken.objects.count() == 1, "that of the browser that added the app"


def test_a_code_of_the_app_signs_in_and_leads_on(app: App) -> None:
    browser = sign_in_by_password("boss", "/admin/find/")
    answer = give_code(browser, f"{app.code()[:3]} {app.code()[3:]}")
    assert (answer.status_code, answer["Location"]) == (303, "/admin/find/")
    assert is_in(browser)


def test_the_browser_that_added_the_app_goes_on(here: Browser, app: App) -> None:
    assert is_in(here)


@pytest.mark.usefixtures("impatient")
def test_a_code_is_accepted_once(app: App) -> None:
    code = app.code()
    assert give_code(sign_in_by_password("boss"), code).status_code == 303
    again = give_code(sign_in_by_password("boss"), code)
    assert again.status_code == 422 and b"was used" in again.content
    assert give_code(sign_in_by_password("boss"), app.code(-1)).status_code == 422


def test_of_two_at_once_a_code_lets_one_in(boss: User, app: App) -> None:
    proofs = run_together([partial(accept_code, boss.pk, app.code())] * 4)
    accepted = [proof for proof in proofs if isinstance(proof, TOTPDevice)]
    assert len(accepted) == 1, proofs


def test_a_recovery_code_is_accepted_once(boss: User, here: Browser) -> None:
    _, codes = add_app(here)
    assert len(set(codes)) == 10
    browser = sign_in_by_password("boss")
    assert give_code(browser, codes[0].upper().replace("-", " ")).status_code == 303
    assert is_in(browser)
    assert give_code(sign_in_by_password("boss"), codes[0]).status_code == 422
    proofs = run_together([partial(accept_code, boss.pk, codes[1])] * 4)
    assert sum(not isinstance(one, Exception) and one is not None for one in proofs) <= 1
    assert StaticToken.objects.count() in (8, 9)


def test_the_database_has_no_recovery_code(here: Browser) -> None:
    _, codes = add_app(here)
    stored = {row.token for row in StaticToken.objects.all()}
    assert stored.isdisjoint({code.replace("-", "") for code in codes})


def test_new_recovery_codes_end_those_before(here: Browser) -> None:
    _, before = add_app(here)
    page = here.send(f"{PLACE}/codes").content.decode()
    assert page.count("<li><code>") == 10 and before[0] not in page
    assert give_code(sign_in_by_password("boss"), before[0]).status_code == 422


@pytest.mark.parametrize(
    "code", ["", "12345", "1234567", "१२३४५६", "-00001", "a\x00b", "x" * 9_999]
)
def test_other_texts_are_refused(app: App, code: str) -> None:
    assert give_code(sign_in_by_password("boss"), code).status_code in (422, 429)


@pytest.mark.usefixtures("impatient")
def test_five_wrong_codes_close_the_door_to_the_right_one_too(app: App) -> None:
    browser = sign_in_by_password("boss")
    answers = [give_code(browser, "000000") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [422, 422, 422, 422, 429]
    assert int(answers[-1]["Retry-After"]) == 900
    assert give_code(browser, app.code()).status_code == 429
    assert give_password(browser, "boss").status_code == 429
    (row,) = AccessAttempt.objects.all()
    assert "000000" not in row.post_data
    row.delete()
    assert give_code(browser, app.code()).status_code == 303


@pytest.mark.usefixtures("impatient")
def test_the_right_password_between_wrong_codes_starts_no_new_count(app: App) -> None:
    for _ in range(4):
        give_code(sign_in_by_password("boss"), "000000")
    assert give_code(sign_in_by_password("boss"), "000000").status_code == 429


def test_an_app_waits_longer_after_each_failure_from_any_address(boss: User, app: App) -> None:
    TOTPDevice.objects.update(
        throttling_failure_count=9, throttling_failure_timestamp=timezone.now()
    )
    with pytest.raises(TooManyRequests):
        accept_code(boss.pk, app.code())
    answer = give_code(sign_in_by_password("boss"), app.code())
    assert answer.status_code == 429 and 250 < int(answer["Retry-After"]) <= 256
    assert not AccessAttempt.objects.exists(), "the code was not looked at"


def test_the_second_step_ends_when_the_password_changes(boss: User, app: App) -> None:
    browser = sign_in_by_password("boss")
    change_password(User.objects.get(pk=boss.pk), "another fine word")
    assert give_code(browser, app.code())["Location"] == "/auth/sign_in"
    assert COOKIE not in browser.client.cookies


def test_the_first_step_is_forgotten_after_ten_minutes(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = sign_in_by_password("boss")
    monkeypatch.setattr("pages.signing_in.FIRST_STEP_S", -1)
    assert browser.client.get(STEP)["Location"] == "/auth/sign_in"
    assert give_code(browser, app.code())["Location"] == "/auth/sign_in"


def test_the_page_asks_nobody_who_gave_no_password(world: None) -> None:
    assert Client().get(STEP)["Location"] == "/auth/sign_in"
    assert Client().post(STEP, {"code": "123456"})["Location"] == "/auth/sign_in"


def test_a_session_from_before_the_app_needs_a_code_for_the_admin(boss: User) -> None:
    before, here = sign_in_by_password("boss"), sign_in_by_password("boss")
    app, _ = add_app(here)
    there = before.client.get("/admin/find/")["Location"]
    step = before.client.get(there)["Location"]
    assert step == f"{STEP}?next=/admin/find/"
    assert b"authenticator" not in before.client.get(f"{PLACE}/app").content
    answer = before.send(step, {"code": app.code()})
    assert answer["Location"] == "/admin/find/" and is_in(before)


def test_another_site_gets_nobody_after_the_step(boss: User) -> None:
    before, here = sign_in_by_password("boss"), sign_in_by_password("boss")
    app, _ = add_app(here)
    answer = before.send(f"{STEP}?next=https://evil.example/", {"code": app.code()})
    assert answer["Location"] == "/"


def test_changes_need_a_fresh_sign_in(boss: User, here: Browser, app: App) -> None:
    long_ago = timezone.now() - timedelta(minutes=11)
    AccessToken.objects.update(created=long_ago)
    page = here.read(PLACE)
    assert "Sign in again to change it" in page and "Remove" not in page
    for part in ("app", "passkey", "codes", "remove"):
        answers = [here.client.get(f"{PLACE}/{part}"), here.send(f"{PLACE}/{part}")]
        assert {one["Location"] for one in answers} == {f"/auth/sign_in?next={PLACE}"}, part
    assert TOTPDevice.objects.count() == 1
    assert give_password(here, "boss", PLACE)["Location"] == STEP
    assert give_code(here, app.code())["Location"] == PLACE
    assert here.send(f"{PLACE}/remove")["Location"] == f"{PLACE}?saved"
    assert not TOTPDevice.objects.exists()


def test_a_new_password_makes_no_fresh_second_step(boss: User, here: Browser, app: App) -> None:
    """Who stole a session and the password must not end the second step with them."""
    form = {"current": PASSWORD, "password": "another fine word"}
    assert here.send("/settings/password", form).status_code == 303
    assert here.send(f"{PLACE}/remove")["Location"].startswith("/auth/sign_in")
    assert TOTPDevice.objects.exists()


def test_the_last_device_takes_the_recovery_codes_with_it(here: Browser, app: App) -> None:
    here.send(f"{PLACE}/remove")
    assert not StaticToken.objects.exists()
    assert give_password(Browser(), "boss")["Location"] == "/"
    assert here.send(f"{PLACE}/codes").status_code == 422


def test_a_mistyped_code_adds_no_app_and_keeps_the_key(here: Browser) -> None:
    app = read_app(here)
    answer = here.send(f"{PLACE}/app", {"code": "000000"})
    assert answer.status_code == 422 and app.key in answer.content.decode()
    assert not TOTPDevice.objects.exists()
    assert here.send(f"{PLACE}/app", {"code": app.code()}).status_code == 200


def test_another_app_replaces_the_one_before(here: Browser, app: App) -> None:
    other = read_app(here)
    assert other.key != app.key
    assert here.send(f"{PLACE}/app", {"code": other.code(-1)})["Location"] == f"{PLACE}?saved"
    assert is_in(here)
    assert give_code(sign_in_by_password("boss"), app.code()).status_code == 422


@pytest.mark.parametrize("passkey", ["", "1", "x" * 99, "9" * 30, "\x00"])
def test_removing_what_is_not_there_breaks_nothing(here: Browser, passkey: str) -> None:
    answer = here.send(f"{PLACE}/remove", {"passkey": passkey})
    assert answer.status_code in (303, 422)


def test_required_of_staff_the_admin_waits_until_there_is_one(
    settings: Settings, here: Browser
) -> None:
    settings.SECOND_STEP_FOR_STAFF = True
    there = here.client.get("/admin/")["Location"]
    assert here.client.get(there)["Location"] == PLACE
    assert here.client.get("/settings").status_code == 200
    add_app(here)
    assert is_in(here)


def test_other_people_may_have_one_too(boss: User) -> None:
    User.objects.update(is_staff=False, is_superuser=False)
    app, _ = add_app(sign_in_by_password("boss"))
    browser = sign_in_by_password("boss", "/settings")
    assert give_code(browser, app.code())["Location"] == "/settings"
    assert browser.client.get("/admin/login/").status_code == 403


@pytest.mark.parametrize("name", ["boss", "@BOSS"])
def test_the_command_resets_and_signs_out(here: Browser, app: App, name: str, capsys) -> None:
    call_command("accounts", "reset-second-step", name, "--reason", "lost phone", "--dry-run")
    assert is_in(here)
    call_command("accounts", "reset-second-step", name, "--reason", "lost phone")
    call_command("accounts", "reset-second-step", name, "--reason", "lost phone")
    said = capsys.readouterr().out.splitlines()
    assert said[-3:] == ["@boss: would be reset", "@boss: reset", "@boss: has no second step"]
    assert here.client.get("/admin/").status_code == 302
    assert give_password(here, "boss", "/admin/")["Location"] == "/admin/"
    assert is_in(here)


def test_the_command_knows_its_users(world: None) -> None:
    with pytest.raises(CommandError, match="no user"):
        call_command("accounts", "reset-second-step", "nobody", "--reason", "x")


@pytest.mark.parametrize("path", [f"{PLACE}/app", f"{PLACE}/passkey", f"{PLACE}/remove", "/admin/"])
def test_without_the_database_the_pages_say_so(here: Browser, app: App, path: str) -> None:
    assert_says_so(here, path)


def test_without_the_database_nobody_is_half_signed_in(app: App) -> None:
    assert_says_so(sign_in_by_password("boss"), STEP)


def assert_says_so(browser: Browser, path: str) -> None:
    browser.client.raise_request_exception = False
    with silent("default"):
        answers = [browser.client.get(path), browser.client.post(path, {"code": "123456"})]
    assert {answer.status_code for answer in answers} == {503}
    assert all(b'role="alert"' in answer.content for answer in answers)
