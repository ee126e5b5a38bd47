"""Guessed passwords: five failures with one name from one address, over all ways to sign in."""

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.sign_ups import PASSWORD, App, Person

PAGE = "/auth/sign_in"
COOL_OFF_S = 900


@pytest.fixture(autouse=True)
def one_proxy(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1


def attempt(path: str, name: str, password: str = "wrong", address: str = "192.0.2.1") -> int:
    """The status of one try, through our proxy, by a new browser."""
    return answer_to(path, name, password, address).status_code


def answer_to(path: str, name: str, password: str, address: str = "192.0.2.1") -> Any:
    form = {"username": name, "password": password}
    return Client().post(path, form, headers={"X-Forwarded-For": address})


def fail_often(name: str, address: str = "192.0.2.1") -> list[int]:
    return [attempt(PAGE, name, address=address) for _ in range(5)]


def test_the_fifth_failure_closes_the_door_to_the_right_password_too(member: Person):
    assert fail_often("ann") == [200, 200, 200, 200, 429]
    assert attempt(PAGE, "ann", PASSWORD) == 429


def test_a_refusal_says_when_to_come_back(member: Person):
    pages = [answer_to(PAGE, "ann", "wrong") for _ in range(6)]
    waits = [int(page["Retry-After"]) for page in pages[-2:]]
    assert all(COOL_OFF_S - 60 < wait <= COOL_OFF_S for wait in waits), waits
    assert b"Too many failed sign-ins" in pages[-2].content
    assert b"Too many requests" in pages[-1].content


def test_a_name_is_the_same_in_any_case_and_on_any_way_in(member: Person):
    for name in ("ann", "ANN", "aNn", "Ann"):
        assert attempt(PAGE, name) == 200
    answer = member.app.client.post(
        "/oauth/token",
        member.app.credentials | {"grant_type": "password", "username": "anN", "password": "wrong"},
        headers={"X-Forwarded-For": "192.0.2.1"},
    )
    assert answer.status_code == 400
    assert attempt(PAGE, "ann", PASSWORD) == 429


def test_the_password_grant_is_refused_with_the_right_password(member: Person):
    right = member.app.credentials | {
        "grant_type": "password",
        "username": "ann",
        "password": PASSWORD,
        "scope": "read",
    }
    wrong = right | {"password": "wrong"}
    answers = [
        member.app.client.post("/oauth/token", form) for form in [right, *[wrong] * 5, right]
    ]
    assert [answer.status_code for answer in answers] == [200, *[400] * 5, 429]
    assert answers[-1].json() == {"error": "Too many requests"}
    assert 0 < int(answers[-1]["Retry-After"]) <= COOL_OFF_S


def test_others_and_the_same_person_elsewhere_are_not_kept_out(member: Person, app: App):
    app.sign_up("bob")
    fail_often("ann")
    assert attempt(PAGE, "bob", PASSWORD) == 302
    assert attempt(PAGE, "ann", PASSWORD, address="192.0.2.2") == 302


def test_one_address_that_tries_many_names_is_refused(member: Person, settings: Settings):
    settings.SIGN_IN_FAILURES_PER_ADDRESS = 8
    tries = [attempt(PAGE, f"person{n}") for n in range(8)]
    assert tries == [200] * 7 + [429]
    assert attempt(PAGE, "ann", PASSWORD) == attempt(PAGE, "somebody") == 429
    assert attempt(PAGE, "ann", PASSWORD, address="192.0.2.2") == 302
    assert AccessAttempt.objects.count() == 8, "refused, they add no rows"
    past = timezone.now() - settings.AXES_COOLOFF_TIME - timedelta(seconds=1)
    AccessAttempt.objects.update(attempt_time=past)
    assert attempt(PAGE, "ann", PASSWORD) == 302


def test_to_sign_in_as_oneself_buys_no_more_tries(member: Person, settings: Settings):
    settings.SIGN_IN_FAILURES_PER_ADDRESS = 4
    for number in range(3):
        assert attempt(PAGE, f"person{number}") == 200
        assert attempt(PAGE, "ann", PASSWORD) == 302
    assert attempt(PAGE, "person3") == attempt(PAGE, "ann", PASSWORD) == 429


def test_a_network_of_ipv6_is_one_address(member: Person):
    tries = [attempt(PAGE, "ann", address=f"2001:db8:1:2:3:4:5:{n}") for n in range(5)]
    assert tries[-1] == 429
    assert attempt(PAGE, "ann", PASSWORD, address="2001:db8:1:3::1") == 302
    [row] = AccessAttempt.objects.all()
    assert row.ip_address == "2001:db8:1:2::"


def test_ipv4_within_ipv6_is_the_ipv4_address(member: Person):
    fail_often("ann", address="::ffff:192.0.2.1")
    assert attempt(PAGE, "ann", PASSWORD) == 429
    assert attempt(PAGE, "ann", PASSWORD, address="::ffff:192.0.2.2") == 302


def test_what_a_client_writes_before_our_proxy_makes_no_new_address(member: Person):
    tries = [attempt(PAGE, "ann", address=f"198.51.100.{n}, 192.0.2.1") for n in range(5)]
    assert tries[-1] == 429


def test_the_door_opens_again_by_itself(member: Person, settings: Settings):
    fail_often("ann")
    assert attempt(PAGE, "ann", PASSWORD) == 429  # this does not start the time again
    past = timezone.now() - settings.AXES_COOLOFF_TIME - timedelta(seconds=1)
    AccessAttempt.objects.update(attempt_time=past)
    assert attempt(PAGE, "ann", PASSWORD) == 302


def test_what_is_counted_is_forgotten_when_its_time_is_over(member: Person, settings: Settings):
    for number in range(3):
        attempt(PAGE, f"nobody{number}")
    past = timezone.now() - settings.AXES_COOLOFF_TIME - timedelta(seconds=1)
    AccessAttempt.objects.update(attempt_time=past)
    attempt(PAGE, "ann")
    assert [row.username for row in AccessAttempt.objects.all()] == ["ann"]


def test_no_password_is_kept(member: Person):
    attempt(PAGE, "ann", "my-other-secret")
    row = AccessAttempt.objects.values().get()
    assert "my-other-secret" not in str(row)


def test_odd_names_and_addresses_are_failures_like_others(world: None):
    for address in ["192.0.2.1", "nonsense", "2001:db8::1"]:
        for name in ["", "x" * 5_000, "nul\x00nul", "a b"]:
            assert attempt(PAGE, name, address=address) == 200, (name, address)
