"""How German writes numbers, times and sentences, and that each refusal has a translation."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.template import engines
from django.utils.translation import gettext, override

import accounts
import integrations.brought_lists
import moderation
import posts
import relations
from infra.api.errors import TidelineError
from pages.refusals import refusal_text
from pages.writing import writing_of

GERMAN = writing_of("de")
# No form of the pages can meet them: they are for moderators, for products and for programs.
OF_PROGRAMS = (
    "accounts.identities.errors", "accounts.api", "accounts.oauth_parameters", "moderation.forms",
    "posts.translation",
)  # fmt: skip
# Nor these: pages send what they may, to routes that exist.
OF_CLIENTS = {"ScopeMissing", "MethodNotAllowed"}
OF_MODERATORS = {
    "DecisionNeedsReason", "CannotModerateStaff", "NotSuspended", "PostIsDeleted",
    "HasOtherKeywords", "AccountProtected", "SuspensionEnds", "EndIsOver", "EndsNever",
    "DeletedByOwner", "DeactivatedByProduct", "OwnerDeletedIt", "AboutItIsOpen", "SentBefore",
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_german() -> Iterator[None]:
    with override("de"):
        yield


@pytest.mark.parametrize(
    ("number", "text"),
    [(999, "999"), (1_000, "1,0 Tsd."), (12_345, "12 Tsd."), (5_600_000, "5,6 Mio.")],
)
def test_counts(number: int, text: str) -> None:
    assert GERMAN.short(number) == text


def test_times() -> None:
    assert GERMAN.day("2026-03-01T12:00:00.000Z") == "1. März 2026"
    assert GERMAN.moment("2026-03-01T12:05:00.000Z") == "1. März 2026, 12:05 UTC"
    assert GERMAN.field_moment("2026-03-01T12:05") == "1. März 2026, 12:05 UTC"
    assert GERMAN.field_moment("soon") == GERMAN.field_moment("") == ""
    assert GERMAN.ago("2020-12-24T12:00:00+00:00") == "24. Dez 2020"


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("Username has already been taken", "Benutzername ist schon vergeben"),
        (
            "Validation failed: Text can't be blank",
            "Das geht so nicht: Der Text darf nicht leer sein",
        ),
        (
            "Validation failed: Title is too long (maximum is 256 characters), Context is invalid",
            "Das geht so nicht: Titel ist zu lang (höchstens 256 Zeichen), Der Ort ist ungültig",
        ),
        ("There is no account @bob", "Es gibt kein Konto @bob"),
        ("A text of a product", "A text of a product"),
        ("", ""),
    ],
)
def test_refusals(english: str, german: str) -> None:
    assert refusal_text(english) == german
    with override("en"):
        assert refusal_text(english) == english


def _errors() -> list[type[TidelineError]]:
    for package in (accounts, posts, relations, moderation, integrations.brought_lists):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith(".errors"):
                importlib.import_module(module.name)
    return [*_below(TidelineError)]


def _below(kind: type[TidelineError]) -> Iterator[type[TidelineError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


def test_each_error_that_a_page_can_meet_has_a_translation() -> None:
    left = {
        error.__name__: error.text
        for error in _errors()
        if error.__module__.endswith(".errors")
        and not error.__module__.startswith((*OF_PROGRAMS, "infra.changes", "tideline_client"))
        and error.__name__ not in OF_MODERATORS | OF_CLIENTS
        and refusal_text(error.text) == error.text
    }
    assert left == {}


@pytest.mark.parametrize(("number", "text"), [(1, "1 Beitrag"), (2, "2 Beiträge"), (0, "0 Bei")])
def test_plurals(number: int, text: str) -> None:
    template = (
        "{% trans number=n %}{{ number }} post{% pluralize %}{{ number }} posts{% endtrans %}"
    )
    [engine] = [env for env in engines["jinja2"].environments() if env.globals["language"] == "de"]
    assert engine.from_string(template).render(n=number).startswith(text)
    as_value = "{{ x|default(ngettext('%(number)s post', '%(number)s posts', n, number=n), true) }}"
    assert engine.from_string(as_value).render(n=number).startswith(text)


def test_values_are_escaped_and_translations_are_not() -> None:
    text = "{% trans title=x %}Filtered: <bdi>{{ title }}</bdi>{% endtrans %}"
    for engine in engines["jinja2"].environments():
        assert "<bdi>&lt;b&gt;</bdi>" in engine.from_string(text).render(x="<b>")


def test_notifications_have_one_short_word() -> None:
    catalog = (settings.BASE_DIR / "locale/de/LC_MESSAGES/django.po").read_text()
    assert "Benachrichtigung" not in catalog
    assert gettext("Notifications") == "Mitteilungen" != gettext("Notices")
