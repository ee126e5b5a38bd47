"""Why the API refused, in the language of the page.

The API speaks English, and programs rely on its texts. So a page finds the English text in this
table and shows its translation. A text that is not here is shown as it is: a test (test_refusals)
holds that all texts of errors which a form of the pages can meet are here.
"""

import re
from collections.abc import Iterator
from functools import cache

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from infra.languages import ENGLISH, page_language

FAILED = "Validation failed: "
# The fields of forms, as the API begins a sentence with them.
FIELDS = (
    _("Username"), _("Email"), _("Password"), _("Agreement"), _("Title"), _("Text"),
    _("Display name"), _("Note"), _("Comment"), _("Name"), _("Keywords"), _("Context"),
    _("Fields"), _("Avatar"), _("Header"), _("Language"), _("Description"), _("Policy"),
)  # fmt: skip
# What comes after a field.
FAULTS = (
    _("has already been taken"),
    _("is reserved"),
    _("can't be blank"),
    _("is invalid"),
    _("must be accepted"),
    _("is your address already"),
    _("must contain only letters, numbers and underscores"),
    _("is not included in the list"),
    _("is not supported"),
    _("is too common"),
    _("must not be only digits"),
    _("must have a name for each value"),
    _("is too long (maximum is %(most)s characters)"),
    _("is too short (minimum is %(least)s characters)"),
    _("has more than %(most)s values"),
)
TEXTS = (
    _("The request cannot be processed"),
    _("Record not found"),
    _("The post you are trying to quote does not appear to exist."),
    _("The author of the post does not let you quote it"),
    _("The author of the post does not let you reply"),
    _("This action is not allowed"),
    _("Your account is frozen: you can read, but not write"),
    _("Cursor is not valid for this list"),
    _("The public timeline does not go back so far"),
    _("The access token is invalid"),
    _("This method requires an authenticated user"),
    _("This action is outside the authorized scopes: it needs %(scope)s"),
    _("Too many requests"),
    _("The request is too large"),
    _("The request is malformed"),
    _("Temporarily unavailable, try again"),
    _("The site that knows you does not answer at the moment"),
    _("Signing in did not work. Try again"),
    _("The password was replaced a moment ago. Sign in with the new one"),
    _("Too many people are signing in at the moment. Try again in a few seconds"),
    _("This link does not work any more: it was used, or it is too old"),
    _("Your login is currently disabled"),
    _("This account is purged"),
    _("Media attachment is currently used by a status"),
    _("Too many images without a post, use some of them or try again tomorrow"),
    _("Images cannot be stored at the moment, try again"),
    _("This passkey was not accepted. Try again"),
    _("You have as many passkeys as you can have. Remove one first"),
    _("Add an app or a passkey first"),
    _("You must be already following the person you want to endorse"),
    _("You are following too many people already"),
    _("You have followed too many people today"),
    _("You have reached the maximum number of lists"),
    _("This list has reached the maximum number of accounts"),
    _("The post you are trying to reply to does not appear to exist."),
    _("Someone else's post cannot be pinned"),
    _("A boost cannot be pinned"),
    _("Posts that are only visible to mentioned users cannot be pinned"),
    _("You have already pinned the maximum number of posts"),
    _("Media is not available"),
    _("A post with a poll cannot have images"),
    _("The poll has already ended"),
    _("The chosen vote option does not exist"),
    _("You have already voted on this poll"),
    _("You cannot vote in your own polls"),
    _("Scheduled at The scheduled date must be at least 5 minutes ahead"),
    _("Scheduled at must be a date and time (ISO 8601)"),
    _("The account was frozen or suspended at that time"),
    _("You have reached the maximum number of filters"),
    _("Your filters have reached the maximum number of keywords or posts"),
    _("Conflict during update, please try again"),
    _("Without a token, searches have one page and resolve nothing"),
    _("Strike has been appealed already"),
    _("This appeal is already decided"),
    _("The file before is not done yet"),
    _("Language is not a language code"),
    _("The visibility of a post cannot be changed"),
    _("File has too many pixels"),
    _("File is broken and cannot be read"),
    _("File size must be less than %(most)s bytes"),
    _("File must be one of %(types)s"),
    _("Cannot attach more than %(most)s files"),
    _("Description is too long (maximum is %(most)s)"),
    _("The file has more than %(most)s KB"),
    _("This is no CSV file"),
    _("This is no CSV file: %(fault)s"),
    _("The file has no lines"),
    _("The file has more than %(most)s lines"),
    _("The file is another kind of list"),
    _("The name of a list has 1 to %(most)s characters"),
    _("You do not follow this account"),
    _("There is no such account here"),
    _("There is no such post here"),
    _("Choose a list and a file"),
    _("Choose when the post is to be published."),
    _("“Attach” sends the chosen photos. Choose them once more."),
    _("A post has at most %(most)s photos."),
    _("Sign in first"),
    _("Say who gets the message"),
    _("There is no account %(name)s"),
    _("Who moderates or operates this site signs in by password"),
    _("You have no account here, and the operator creates them"),
    _("q must have words or from:name next to what posts must have or be"),
    _("q must have at most %(most)s characters"),
)
_VALUE = re.compile(r"%\\?\((\w+)\\?\)s")


def refusal_text(english: str) -> str:
    """The text in the language of the page. With several faults each is translated by itself."""
    if page_language() == ENGLISH:
        return english
    text = english.removeprefix(FAILED)
    translated = _find(text) or ", ".join(_find(part) or part for part in text.split(", "))
    if text == english:
        return translated
    return gettext("This does not work: %(faults)s") % {"faults": translated}


def _find(text: str) -> str:
    """The translation of one sentence; empty if the table has none."""
    if text in TEXTS:
        return gettext(text)
    return _fill(text, TEXTS) or next(_with_field(text), "")


def _with_field(text: str) -> Iterator[str]:
    for field in FIELDS:
        if text.startswith(f"{field} "):
            fault = text[len(field) + 1 :]
            if translated := gettext(fault) if fault in FAULTS else _fill(fault, FAULTS):
                yield f"{gettext(field)} {translated}"


def _fill(text: str, known: tuple[str, ...]) -> str:
    for english in known:
        if "%(" in english and (match := _pattern(english).fullmatch(text)):
            return gettext(english) % match.groupdict()
    return ""


@cache
def _pattern(english: str) -> re.Pattern[str]:
    return re.compile(_VALUE.sub(r"(?P<\1>.+)", re.escape(english)))
