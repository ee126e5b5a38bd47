"""A theme as a product has it: red, square, with a logo, a strip above cards, and its links."""

from pathlib import Path

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
    '<path fill="#7a1f5c" d="M0 0h9v9z"/></svg>'
)
SHEET = """
/* --not-a-token: in a comment */
:root {
  --tide: light-dark(#7a1f5c, #f0a3d4); --tide-ink: light-dark(#ffffff, #2b0a20);
  --wash: light-dark(#f8e7f1, #3a1a2f); --strip: var(--wash);
  --font: "Liberation Serif", serif;
  --radius: 2px; --button-radius: 2px; --field-radius: 2px; --face-radius: 4px;
}
.strip { background: var(--strip); padding: 4px; text-align: center; }
"""
CARD = """{% extends "tideline/pages/card.html" %}
{% block frame %}{% include "theme/strip.html" %}{{ super() }}{% endblock %}
"""
STRIP = '<aside class="strip" aria-label="Harbour">Part of Harbour</aside>\n'
LINKS = '<a href="/about">About</a> · <a href="/privacy">Data protection</a>\n'
FILES = {
    "static/theme.css": SHEET,
    "static/web/icon.svg": ICON,
    "templates/pages/card.html": CARD,
    "templates/theme/strip.html": STRIP,
    "templates/pages/parts/site_links.html": LINKS,
    "README.md": "How to use it",
}


def make_theme(folder: Path, **files: str) -> Path:
    """`files`: more of them by their paths, or others in place of ours."""
    for name, content in {**FILES, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder
