"""The package of the client: it is complete, and imports only what it names."""

import ast
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical

CLIENT = Path(__file__).parents[3] / "client"
SOURCE = CLIENT / "src"
PROJECT = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]
OF_DJANGO = SOURCE / "tideline_client/contrib/django"
# Imports the package with only these modules of others.
ALONE = """
import sys
for name in ("django", "jwt", "nh3", "standardwebhooks"):
    sys.modules[name] = None
import tideline_client
print(tideline_client.__file__)
"""


def imported_in(files: Iterator[Path]) -> set[str]:
    """Distributions, canonical."""
    owners = packages_distributions()
    modules = {module for file in files for module in _modules(ast.parse(file.read_text()))}
    others = modules - sys.stdlib_module_names - {"tideline_client"}
    return {str(canonical(owners[module][0])) for module in others}


def _modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield str(node.module).partition(".")[0]


def listed(lines: list[str]) -> set[str]:
    return {str(canonical(Requirement(line).name)) for line in lines}


def test_it_imports_what_it_names_and_nothing_of_tideline() -> None:
    base = listed(PROJECT["dependencies"])
    core = (file for file in SOURCE.rglob("*.py") if not file.is_relative_to(OF_DJANGO))
    assert imported_in(core) == base
    extra = listed(PROJECT["optional-dependencies"]["django"])
    # pyjwt[crypto] brings cryptography.
    assert imported_in(OF_DJANGO.rglob("*.py")) - base == extra | {"cryptography"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `pip install ./client` leaves it."""
    folder = tmp_path_factory.mktemp("client")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=CLIENT, check=True, capture_output=True)
    [wheel] = folder.glob("tideline_client-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def files_in(root: Path, folder: Path) -> set[Path]:
    """Without what tests that import them have compiled."""
    files = (file for file in folder.rglob("*") if "__pycache__" not in file.parts)
    return {file.relative_to(root) for file in files if file.is_file()}


def test_the_built_package_is_complete(site: Path) -> None:
    package = site / "tideline_client"
    assert files_in(site, package) == files_in(SOURCE, SOURCE)
    assert (package / "py.typed").exists()
    assert [folder.name for folder in site.iterdir() if folder.suffix != ".dist-info"] == [
        "tideline_client"
    ]


def test_it_is_used_without_django(site: Path) -> None:
    command = [sys.executable, "-c", ALONE]
    environment = {"PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True)
    assert done.stdout.startswith(str(site)), done.stderr
