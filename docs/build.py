"""Builds the documentation site: `make docs`.

It copies the pages of docs/ to .site-source, draws the diagrams of docs/diagrams there, and writes
the list of endpoints from the OpenAPI document. Zensical turns the copy into .site. A warning, a
dead link or a missing anchor ends the build with exit code 1. The site is for a browser without a
server or a network: open .site/index.html.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "docs"
COPY = ROOT / ".site-source"
PROGRAMS = Path(sys.executable).parent
ENDPOINTS = "<!-- endpoints -->"


def main() -> None:
    copy_pages()
    draw_diagrams()
    list_endpoints()
    subprocess.run([PROGRAMS / "zensical", "build", "--clean", "--strict"], cwd=ROOT, check=True)


def copy_pages() -> None:
    shutil.rmtree(COPY, ignore_errors=True)
    left_out = shutil.ignore_patterns("*.py", "*.d2", "__pycache__")
    shutil.copytree(SOURCE, COPY, ignore=left_out)


def draw_diagrams() -> None:
    """One SVG for each text, in colours for light and dark pages."""
    options = ["--theme", "0", "--dark-theme", "200", "--pad", "12"]
    for text in sorted((SOURCE / "diagrams").glob("*.d2")):
        picture = COPY / "diagrams" / f"{text.stem}.svg"
        command = [str(PROGRAMS / "d2"), *options, str(text), str(picture)]
        subprocess.run(command, check=True, capture_output=True)


def list_endpoints() -> None:
    page = COPY / "reference/api.md"
    rows = [f"| `{method}` | `{path}` | {text} |" for method, path, text in endpoints()]
    table = "\n".join(["| method | path | what it does |", "|---|---|---|", *rows])
    page.write_text(page.read_text().replace(ENDPOINTS, table))


def endpoints() -> Iterator[tuple[str, str, str]]:
    """Method, path and first line of the description of every operation of the API."""
    for path, methods in openapi_document()["paths"].items():
        for method, operation in methods.items():
            if "responses" in operation:
                yield method.upper(), path, operation.get("description", "").partition("\n")[0]


def openapi_document() -> Any:
    command = [sys.executable, "manage.py", "spectacular", "--format", "openapi-json"]
    environment = {**os.environ, "DEVELOPMENT": "1"}
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    return json.loads(printed.stdout)


if __name__ == "__main__":
    main()
