"""`manage.py check` names what is wrong with TIDELINE, and nothing works by chance."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from tideline_client.contrib.django import settings as documented
from tideline_client.contrib.django.checks import check_settings, check_transport
from tideline_client.contrib.django.connection import tideline
from tideline_client.contrib.django.settings import KEYS, read_settings

GOOD = {"URL": "https://feed.example.org", "TOKEN": "token"}


def ids(messages):
    return [message.id for message in messages]


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (None, "E001"),
        ("https://feed.example.org", "E001"),
        (GOOD | {"TOKENS": "x"}, "E002"),
        (GOOD | {"TOKEN": 5}, "E003"),
        ({"URL": GOOD["URL"]}, "E004"),
        ({"TOKEN": "x", "URL": ""}, "E004"),
        (GOOD | {"URL": "feed.example.org"}, "E005"),
        (GOOD | {"PAGE_DEADLINE_MS": 0}, "E006"),
        (GOOD | {"PAGE_DEADLINE_MS": "300"}, "E006"),
        (GOOD | {"PROFILE": "nowhere.profile_of"}, "E007"),
        (GOOD | {"PROFILE": "product.settings.TIDELINE"}, "E007"),
    ],
)
def test_each_fault_has_a_number(settings, given, number):
    settings.TIDELINE = given
    assert ids(check_settings()) == [f"tideline.{number}"]


def test_secrets_are_not_in_the_texts_of_objects(settings):
    """Error reports show the objects of each frame."""
    secret = {"TOKEN": "s3cret", "WEBHOOK_SECRET": "s3cret", "SIGNING_KEY": "s3cret"}
    settings.TIDELINE = GOOD | secret
    client = tideline().acting_for("42")
    for shown in (read_settings(), client._connection, client._connection.caller):
        assert GOOD["URL"] in repr(shown) and "s3cret" not in repr(shown)


@pytest.mark.parametrize("given", [None, {}, GOOD | {"URL": "x"}])
def test_no_call_is_made_with_wrong_settings(settings, given):
    settings.TIDELINE = given
    with pytest.raises(ImproperlyConfigured, match="TIDELINE"):
        tideline()


def test_good_settings(settings):
    assert check_settings() == []
    call_command("check")
    settings.TIDELINE = GOOD | {"PAGE_DEADLINE_MS": 700}
    assert read_settings().page_deadline_ms == 700
    assert tideline() is tideline()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://feed.example.org", []),
        ("http://localhost:8000", []),
        ("http://feed.example.org", ["tideline.W001"]),
    ],
)
def test_a_token_is_not_sent_in_clear(settings, url, expected):
    settings.TIDELINE = GOOD | {"URL": url}
    assert ids(check_transport()) == expected


def test_the_module_describes_every_setting():
    assert [key for key in sorted(KEYS) if f"`{key}`" not in (documented.__doc__ or "")] == []
