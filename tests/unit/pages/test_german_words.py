"""How German writes numbers, times and sentences, and that each refusal has a translation."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.template import engines
from django.utils.translation import gettext, override

from pages.refusals import FAILED, refusal_text
from pages.writing import writing_of
from tests.refused_texts import FAULT, RefusedText, find_refused_texts

GERMAN = writing_of("de")
# No form of the pages can meet them: they are for products, for programs and for moderators.
FOR_PROGRAMS = (
    "accounts/identities/", "accounts/actions/sign_up", "accounts/api/", "accounts/images/api/",
    "posts/api/",
    "posts/actions/request_fields", "posts/actions/check_own_data", "accounts/oauth",
    "accounts/images/checks",
    "accounts/actions/register_application",
    "integrations/actions", "integrations/api", "integrations/webhooks", "integrations/positions",
    "infra/changes/", "infra/api/bulk_places", "infra/api/request", "moderation/forms",
    "posts/translation/",
)  # fmt: skip
OF_PROGRAMS = {"InvalidRequest", "ScopeMissing", "MethodNotAllowed", "TooManyDeclared"}
OF_PROGRAMS |= {"UnknownReaction", "UnknownObjectKind"}
TRANSLATED = "Das geht so nicht: "
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
        assert refusal_text(english) == english.replace(FAILED, "This does not work: ")


@pytest.mark.parametrize(
    ("api", "english"),
    [
        ("Text character limit of 500 exceeded", "The text has more than 500 characters"),
        (
            "Poll option character limit of 50 exceeded",
            "An answer of the poll has more than 50 characters",
        ),
        (
            "Scheduled at The scheduled date must be at least 5 minutes ahead",
            "The time must be at least 5 minutes ahead",
        ),
    ],
)
def test_english_pages_say_it_in_words_for_people(api: str, english: str) -> None:
    assert english not in refusal_text(FAILED + api)
    with override("en"):
        assert refusal_text(FAILED + api) == f"This does not work: {english}"


def test_each_text_that_the_code_can_refuse_with_has_a_translation() -> None:
    left = {
        refused
        for refused in find_refused_texts()
        if refused.kind not in OF_MODERATORS | OF_PROGRAMS
        and not refused.module.startswith(FOR_PROGRAMS)
        and refusal_text(_sentence(refused)).removeprefix(TRANSLATED)
        == _sentence(refused).removeprefix(FAILED)
    }
    assert left == set()


def _sentence(refused: RefusedText) -> str:
    """As the API says it: what is wrong with a field follows the name of the field."""
    return f"Text {refused.text}" if refused.kind == FAULT else refused.text


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
    catalog = (settings.BASE_DIR / "pages/locale/de/LC_MESSAGES/django.po").read_text()
    assert "Benachrichtigung" not in catalog
    assert gettext("Notifications") == "Mitteilungen" != gettext("Notices")
