"""Builds the documentation site: `make docs`.

It copies the pages of docs/ to .site-source, draws the diagrams of docs/diagrams there, and puts
what the code declares and kept results into the pages that have a marker for them (lab/reference).
Zensical turns the copy into .site. A warning, a dead link or a missing anchor ends the build with
exit code 1. The site is for a browser without a server or a network: open .site/index.html.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "docs"
COPY = ROOT / ".site-source"
PROGRAMS = Path(sys.executable).parent


def main() -> None:
    copy_pages()
    draw_diagrams()
    render_declarations()
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


def render_declarations() -> None:
    """What the code declares, and the kept results of experiments."""
    command = [sys.executable, "-m", "lab.reference", str(COPY)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "DEVELOPMENT": "1"}, check=True)


if __name__ == "__main__":
    main()
