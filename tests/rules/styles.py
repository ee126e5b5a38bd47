"""What the style sheet of the pages may say below its scale: names of the scale only."""

import re
from collections.abc import Iterator

from tests.rules.texts import ROOT, Fault, Text

SHEETS = [ROOT / f"pages/static/pages/{name}.css" for name in ("page", "reactions")]
END_OF_SCALE = "-- the end of the scale"
_SPACE = r"(?:padding|margin)(?:-[\w-]+)?|(?:row-|column-)?gap"
_DECLARATION = re.compile(r"(?<![\w-])([\w-]+):\s*([^;{}]+)")
# A property, what its value may not have, and what to say then.
LITERALS = (
    (re.compile(_SPACE), re.compile(r"\d(?:px|rem)\b"), "a distance of its own: name a --space"),
    (re.compile("font-size"), re.compile(r"\d(?:px|rem)\b"), "a size of its own: name a --text"),
    (re.compile("font-weight"), re.compile(r"\d|(?<!-)bold"), "a weight of its own: name one"),
    (re.compile("[a-z-]*radius"), re.compile(r"\dpx\b"), "a corner of its own: name a --radius"),
    (re.compile(".*"), re.compile(r"#[\da-fA-F]{3,8}\b|\b(?:rgb|hsl)a?\("), "a colour of its own"),
)


def literals(text: Text) -> Iterator[Fault]:
    """Colours, distances, sizes, weights and corners outside the scale of a style sheet."""
    below = max(text.content.find(END_OF_SCALE), 0)
    for declaration in _DECLARATION.finditer(text.content, below):
        name, value = declaration.groups()
        for of, refused, fault in LITERALS:
            if of.fullmatch(name) and refused.search(value):
                yield text.fault_at(declaration.start(), fault)
