"""The product's texts are plain English: docstrings, comments, strings and documents.

The words below make a reader read twice. The list is the style's; each has an everyday word:
again, the caller, any, no account, next to, write, gets, is, in the meantime, a failure.
"""

import io
import re
import tokenize
from collections.abc import Iterator

from tests.rules.texts import Fault, Text

HARD = re.compile(
    r"\b(anew|whoever|whatever|whom|nobody|beside|lay|lays|laid|hears|(?:is|are|was|were) told"
    r"|stands|stood|meanwhile|befall\w*|ails?|in vain|sooner than not)\b",
    re.IGNORECASE,
)
# Also a value of Mastodon's API, in the types of the client.
CODE = re.compile(r"```.*?```|`[^`]*`|'nobody'", re.DOTALL)
# A user of the operating system, and that value.
SYSTEM_USER = {'"nobody"', "'nobody'"}


def hard_words_in_source(source: Text) -> Iterator[Fault]:
    """In comments and strings, docstrings among them."""
    if not HARD.search(source.content):
        return
    for token in tokenize.generate_tokens(io.StringIO(source.content).readline):
        is_text = token.type in (tokenize.COMMENT, tokenize.STRING)
        if is_text and token.string not in SYSTEM_USER:
            yield from _faults(source, token.string, token.start[0])


def hard_words_in_document(document: Text) -> Iterator[Fault]:
    return _faults(document, document.content, 1)


def _faults(text: Text, part: str, first_line: int) -> Iterator[Fault]:
    prose = CODE.sub(lambda code: " " + "\n" * code.group(0).count("\n"), part)
    for match in HARD.finditer(prose):
        line = first_line + prose.count("\n", 0, match.start())
        yield text.fault(
            line, f'"{match.group(0)}" makes a reader read twice; use an everyday word'
        )
