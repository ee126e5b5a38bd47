"""The lists of packages are honest: what is used is listed, what is listed is used and locked."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
NOT_PRODUCTION = {"tests", "bench", "conformance", "requirements", "build"}
# Named nowhere in our code: Django's PostgreSQL backend loads it.
LOADED_BY_OTHERS = {"psycopg"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def listed(file: str) -> set[str]:
    """Names in an .in file, without extras and versions."""
    lines = (CHECKOUT / "requirements" / file).read_text().splitlines()
    names = (re.match(r"[A-Za-z0-9._-]+", line) for line in lines if not line.startswith("-"))
    return {canonical(name[0]) for name in names if name}


def locked(file: str) -> dict[str, list[str]]:
    """Pins of a lock by name; a name has several where Python versions differ."""
    pins: dict[str, list[str]] = {}
    for line in (CHECKOUT / "requirements" / file).read_text().splitlines():
        if found := re.match(r"([A-Za-z0-9._-]+)==(\S+.*) \\$", line):
            pins.setdefault(canonical(found[1]), []).append(found[2])
    return pins


def production_files() -> Iterator[Path]:
    for file in CHECKOUT.rglob("*.py"):
        folder = file.relative_to(CHECKOUT).parts[0]
        if folder not in NOT_PRODUCTION and not folder.startswith("."):
            yield file


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def test_every_package_that_is_imported_is_listed():
    owners = packages_distributions()
    unlisted = {
        f"{file.relative_to(CHECKOUT)} imports {name}"
        for file in production_files()
        for name in imported(file)
        if name not in sys.stdlib_module_names
        and name in owners
        and not {canonical(owner) for owner in owners[name]} & listed("app.in")
    }
    assert unlisted == set()


def test_every_package_that_is_listed_is_named_in_the_code():
    owners = packages_distributions()
    text = "\n".join(file.read_text() for file in production_files())
    words = set(re.findall(r"\w+", text))
    used = {canonical(owner) for name in words & owners.keys() for owner in owners[name]}
    assert listed("app.in") - used - LOADED_BY_OTHERS == set()


def test_locks_pin_what_is_listed_and_agree():
    app, dev, peers = locked("app.txt"), locked("dev.txt"), locked("peers.txt")
    assert listed("app.in") <= app.keys()
    assert listed("app.in") | listed("dev.in") <= dev.keys()
    assert {name: dev.get(name) for name in app} == app
    assert listed("peers.in") <= peers.keys()
    assert {name: peers[name] for name in app.keys() & peers.keys()}.items() <= app.items()
    assert listed("uv.in") == locked("uv.txt").keys()


def test_every_pin_has_a_hash():
    for name in ("uv.txt", "app.txt", "dev.txt", "peers.txt", "telemetry.txt"):
        lock = (CHECKOUT / "requirements" / name).read_text()
        assert not re.findall(r"^\S+==.*\\\n(?!    --hash=sha256:)", lock, re.MULTILINE)
