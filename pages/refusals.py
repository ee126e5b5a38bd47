"""Why the API refused, in the language of the page.

The API speaks English, and programs rely on its texts. So a page finds the English text in this
table and shows its translation, in English, too: there it is the same, or the words of FOR_PEOPLE.
A text that is not here is shown as it is: a test reads the code (tests/refused_texts.py) and holds
that all texts which a form of the pages can meet are here.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

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
    _("Posts that are only visible to mentioned users cannot be pinned"),
    _("You have already pinned the maximum number of posts"),
    _("Media is not available"),
    _("A post with a poll cannot have images"),
    _("The poll has already ended"),
    _("The chosen vote option does not exist"),
    _("You have already voted on this poll"),
    _("You cannot vote in your own polls"),
    _("The account was frozen or suspended at that time"),
    _("You have reached the maximum number of filters"),
    _("Your filters have reached the maximum number of keywords or posts"),
    _("Conflict during update, please try again"),
    _("Without a token, searches have one page and resolve nothing"),
    _("Strike has been appealed already"),
    _("This appeal is already decided"),
    _("The file before is not done yet"),
    _("Language is not a language code"),
    _("A direct message must mention the author of the post that it quotes"),
    _("An edit cannot change which post is quoted"),
    _("A post can be edited at most %(most)s times"),
    _("At most %(most)s threads can be muted"),
    _("The post that this request published was deleted"),
    _("You feature too many tags already"),
    _("You follow too many tags already"),
    _("The keywords of your filters have more than %(most)s characters"),
    _("%(name)s is not supported"),
    _("The visibility of a post cannot be changed"),
    _("File has too many pixels"),
    _("File is broken and cannot be read"),
    _("File size must be less than %(most)s bytes"),
    _("File must be one of %(types)s"),
    _("Cannot attach more than %(most)s files"),
    _("Description is too long (maximum is %(most)s)"),
    _("The file has more than %(most)s KB"),
    _("The file is not in UTF-8. Save it again as CSV in UTF-8"),
    _("This is no CSV file"),
    _("This is no CSV file: %(fault)s"),
    _("The file has no lines"),
    _("The file has more than %(most)s lines"),
    _("The file is another kind of list"),
    _("This is a file of people you follow. Choose that list, or another file"),
    _("This is a file of people you block. Choose that list, or another file"),
    _("This is a file of people you mute. Choose that list, or another file"),
    _("This is a file of bookmarks. Choose that list, or another file"),
    _("This is a file of lists. Choose that list, or another file"),
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
# What pages say instead of texts that clients know from Mastodon.
FOR_PEOPLE = {
    "Text character limit of %(most)s exceeded": _("The text has more than %(most)s characters"),
    "Poll option character limit of %(most)s exceeded": _(
        "An answer of the poll has more than %(most)s characters"
    ),
    "Poll must have %(least)s to %(most)s options": _(
        "A poll has %(least)s to %(most)s different answers"
    ),
    "Poll options must be different": _("The answers of the poll must be different"),
    "Poll must last at least %(least)s seconds": _("The poll ends too soon"),
    "Scheduled at The scheduled date must be at least 5 minutes ahead": _(
        "The time must be at least 5 minutes ahead"
    ),
    "Scheduled at must be a date and time (ISO 8601)": _("Choose a date and a time"),
    "You have exceeded the limit of %(most)s scheduled posts for that day": _(
        "You can schedule %(most)s posts for one day"
    ),
    "You have exceeded the limit of %(most)s scheduled posts": _(
        "You can schedule %(most)s posts at once"
    ),
    "Your posts have too many %(kind)s today": _(
        "Your posts mention too many people or have too many tags today"
    ),
    "File %(size)s images are not supported (maximum is %(most)s pixels)": _(
        "The image is too large: it has %(size)s pixels, and may have %(most)s"
    ),
    "File %(size)s images are not supported (a side has at most %(most)s)": _(
        "The image is too large: it has %(size)s pixels, and a side may have %(most)s"
    ),
    "File has too many %(parts)s": _("The image file has too many parts"),
    "A boost cannot be pinned": _("A repost cannot be pinned"),
    "Rule ids do not reference valid rules": _("One of these rules is no longer there"),
    "Media attachment is currently used by a status": _("A post has this image already"),
}
_VALUE = re.compile(r"%\\?\((\w+)\\?\)s")


def refusal_text(english: str) -> str:
    """The text in the language of the page. With several faults each is translated by itself."""
    text = english.removeprefix(FAILED)
    translated = _find(text) or ", ".join(_find(part) or part for part in text.split(", "))
    if text == english:
        return translated
    return gettext("This does not work: %(faults)s") % {"faults": translated}


def _find(text: str) -> str:
    """The translation of one sentence; empty if the table has none."""
    if text in FOR_PEOPLE:
        return gettext(FOR_PEOPLE[text])
    if text in TEXTS:
        return gettext(text)
    known = FOR_PEOPLE | dict(zip(TEXTS, TEXTS, strict=True))
    return _fill(text, known) or next(_with_field(text), "")


def _with_field(text: str) -> Iterator[str]:
    for field in FIELDS:
        if text.startswith(f"{field} "):
            fault = text[len(field) + 1 :]
            known = dict(zip(FAULTS, FAULTS, strict=True))
            if translated := gettext(fault) if fault in FAULTS else _fill(fault, known):
                yield f"{gettext(field)} {translated}"


def _fill(text: str, known: Mapping[str, str]) -> str:
    for english, shown in known.items():
        if "%(" in english and (match := _pattern(english).fullmatch(text)):
            return gettext(shown) % match.groupdict()
    return ""


@cache
def _pattern(english: str) -> re.Pattern[str]:
    return re.compile(_VALUE.sub(r"(?P<\1>.+)", re.escape(english)))
