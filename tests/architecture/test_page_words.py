"""Pages speak to people: none shows a word that only developers use."""

import re

import pytest

from tests.rules.texts import ROOT

TEMPLATES = ROOT / "pages/jinja2"
# Say: post, repost, photo, device, app, profile field, direct message.
OF_DEVELOPERS = re.compile(
    r"\b(status|statuses|reblog\w*|toots?|media|images?|sessions?|applications?|facts?|fields?"
    r"|conversations?|malformed|tokens?|scopes?)\b",
    re.IGNORECASE,
)
CODE = re.compile(r"{#.*?#}|{%.*?%}|{{.*?}}", re.DOTALL)
TAGS = re.compile(r'<[^>]*?(?:(?:aria-label|title|placeholder|alt)="([^"]*)"[^>]*)?>', re.DOTALL)
# Texts that are translated: `_("…")`. Those of `{% trans %}` are between tags, as all others.
TEXT = re.compile(r'\b_\("([^"]*)"')
KNOWN = re.compile(r"Your session has ended|profile fields?|<code>.*?</code>", re.IGNORECASE)


def shown_by(template: str) -> str:
    """What people see or hear of a template, without what it inserts."""
    texts = " ".join(TEXT.findall(template))
    plain = KNOWN.sub("", f"{CODE.sub('', template)} {texts}")
    return TAGS.sub(lambda tag: f" {tag[1] or ''} ", plain)


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("<b>Two images</b>", ["images"]),
        ('<a class="session" title="{% if x %}A status{% endif %}">Post</a>', ["status"]),
        (
            '<p>{{ _("Two media") }}{% trans n=status.n %}A toot{% endtrans %}</p>',
            ["toot", "media"],
        ),
        ("{# statuses #}{% for status in statuses %}{{ status.media }}{% endfor %}", []),
    ],
)
def test_words_are_found_where_people_see_them(template: str, found: list[str]) -> None:
    assert OF_DEVELOPERS.findall(shown_by(template)) == found


def test_pages_use_the_words_of_people() -> None:
    found = {
        str(path.relative_to(TEMPLATES)): words
        for path in TEMPLATES.rglob("*.html")
        if (words := OF_DEVELOPERS.findall(shown_by(path.read_text())))
    }
    assert found == {}
