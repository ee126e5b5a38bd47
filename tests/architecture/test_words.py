"""The product's texts are plain English: docstrings, comments, strings and documents.

The words below make a reader read twice. The list is the style's; each has an everyday word:
again, the caller, any, no account, next to, write, gets, is, in the meantime, a failure.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_docs import DOCUMENTS, ROOT
from tests.architecture.test_names import SOURCES

HARD = re.compile(
    r"\b(anew|whoever|whatever|whom|nobody|beside|lay|lays|laid|hears|(?:is|are|was|were) told"
    r"|stands|stood|meanwhile|befall\w*|ails?|in vain|sooner than not)\b",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
# A user of the operating system.
SYSTEM_USER = {'"nobody"', "'nobody'"}
TEMPLATES = sorted(
    path
    for folder in {p.parts[len(ROOT.parts)] for p in SOURCES}
    for path in (ROOT / folder).rglob("*.html")
)
SCRIPTS = sorted(
    path
    for folder in {p.parts[len(ROOT.parts)] for p in SOURCES}
    for path in (ROOT / folder).rglob("*.lua")
)


def hard_words(text: str) -> list[str]:
    return [match.group(0) for match in HARD.finditer(CODE.sub(" ", text))]


def texts_of(source: str) -> Iterator[str]:
    """Comments and strings, docstrings among them."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_text = token.type in (tokenize.COMMENT, tokenize.STRING)
        if is_text and token.string not in SYSTEM_USER:
            yield token.string


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_source_has_no_hard_words(path: Path) -> None:
    assert [word for text in texts_of(path.read_text()) for word in hard_words(text)] == []


@pytest.mark.parametrize(
    "path", [*DOCUMENTS, *TEMPLATES, *SCRIPTS], ids=lambda path: str(path.relative_to(ROOT))
)
def test_document_has_no_hard_words(path: Path) -> None:
    assert hard_words(path.read_text()) == []


def test_hard_words_are_found() -> None:
    assert hard_words("Whoever asks is told anew, and nobody hears it.")
    assert hard_words("The layout of `whom` is standard.") == []
