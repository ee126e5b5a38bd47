"""The lists of packages are honest: what is used is listed, what is listed is used and locked.

And deploy/install.py, which makes environments of them.
"""

import ast
import os
import re
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

from deploy import install
from infra.version import VERSION

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[3]
PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
GROUPS: dict[str, list[str]] = PYPROJECT["dependency-groups"]
LOCK = tomllib.loads((CHECKOUT / "uv.lock").read_text())
PACKAGES = {package["name"]: package for package in LOCK["package"]}
WHEEL = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
OUTSIDE = {folder.removeprefix("/") for folder in WHEEL["exclude"]}
# Named nowhere in our code: Django's PostgreSQL backend loads psycopg, a setting names the storage.
LOADED_BY_OTHERS = {"psycopg"}
# Modules that are loaded only with the setting that needs the extra.
LOADED_WITH = {
    "timelines/stores/cassandra_check.py": "cassandra",
    "timelines/stores/cassandra_session.py": "cassandra",
}
WITHOUT_EXTRAS = """
import sys
sys.modules["cassandra"] = None
import django
django.setup()
from django.core.checks import run_checks
from timelines.stores.factory import cold_store
assert not [check for check in run_checks() if check.id == "timelines.E001"]
print(type(cold_store(0)).__name__)
"""


def names(requirements: list[str]) -> set[str]:
    return {str(canonical(Requirement(line).name)) for line in requirements}


def production_files() -> Iterator[Path]:
    for file in CHECKOUT.rglob("*.py"):
        folder = file.relative_to(CHECKOUT).parts[0]
        if folder not in OUTSIDE and not folder.startswith("."):
            yield file


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def locked_with(roots: list[dict[str, str]]) -> set[str]:
    """These packages and all that they need, in any environment."""
    found: set[str] = set()
    waiting = [root["name"] for root in roots]
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += [needed["name"] for needed in PACKAGES[name].get("dependencies", [])]
    return found


def may_import(file: Path) -> set[str]:
    extra = LOADED_WITH.get(str(file.relative_to(CHECKOUT)))
    return names([*PROJECT["dependencies"], *(EXTRAS[extra] if extra else [])])


def test_every_package_that_is_imported_is_listed() -> None:
    owners = packages_distributions()
    unlisted = {
        f"{file.relative_to(CHECKOUT)} imports {name}"
        for file in production_files()
        for name in imported(file)
        if name not in sys.stdlib_module_names
        and name in owners
        and not {canonical(owner) for owner in owners[name]} & may_import(file)
    }
    assert unlisted == set()


def test_without_an_extra_everything_is_imported() -> None:
    environment = os.environ | {"DEVELOPMENT": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
    words = [sys.executable, "-c", WITHOUT_EXTRAS]
    done = subprocess.run(words, cwd=CHECKOUT, env=environment, capture_output=True, text=True)
    assert done.stdout == "PostgresStore\n", done.stderr


def test_every_package_that_is_listed_is_named_in_the_code() -> None:
    owners = packages_distributions()
    files = [*production_files(), *(CHECKOUT / "lab/services").rglob("*.py")]
    text = "\n".join(file.read_text() for file in files)
    words = set(re.findall(r"\w+", text))
    used = {str(canonical(owner)) for name in words & owners.keys() for owner in owners[name]}
    listed = names(
        [*PROJECT["dependencies"], *EXTRAS["run"], *EXTRAS["telemetry"], *EXTRAS["cassandra"]]
    )
    assert listed - used - LOADED_BY_OTHERS == set()


def test_the_lock_has_what_is_listed() -> None:
    about = PACKAGES["tideline"]["metadata"]
    assert {line["name"] for line in about["requires-dist"]} == names(
        [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
    )
    locked = {
        name: {line["name"] for line in lines} for name, lines in about["requires-dev"].items()
    }
    assert locked == {name: names(lines) for name, lines in GROUPS.items()}


def test_programs_of_make_run_are_not_in_production() -> None:
    production = locked_with(PACKAGES["tideline"]["dependencies"])
    assert names(PROJECT["dependencies"]) <= production
    assert not names(EXTRAS["run"]) & production


def test_every_file_of_the_lock_has_a_hash_and_none_a_private_address() -> None:
    for package in PACKAGES.values():
        files = [*package.get("wheels", []), *filter(None, [package.get("sdist")])]
        assert all(file["hash"].startswith("sha256:") for file in files)
        assert files or package["source"] == {"editable": "."}
    hosts = set(re.findall(r"https?://([^/\"]+)", (CHECKOUT / "uv.lock").read_text()))
    assert hosts == {"pypi.org", "files.pythonhosted.org"}


def test_the_built_package_is_complete(tmp_path: Path) -> None:
    """What `pip install .` copies: all files of the product, and the version of the constant."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    [wheel] = tmp_path.glob(f"tideline-{VERSION}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        archive.extractall(tmp_path / "site")
    assert packed == {str(file.relative_to(CHECKOUT)) for file in product_files()}
    command = [sys.executable, "-c", "import manage; manage.main()", "check"]
    environment = {"DEVELOPMENT": "1", "PYTHONPATH": str(tmp_path / "site")}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)


def product_files() -> Iterator[Path]:
    yield from (CHECKOUT / "manage.py", CHECKOUT / "streaming.py")
    for folder in CHECKOUT.iterdir():
        if folder.is_dir() and folder.name not in OUTSIDE and not folder.name.startswith("."):
            found = (file for file in folder.rglob("*") if "__pycache__" not in file.parts)
            yield from filter(Path.is_file, found)


# --- deploy/install.py ---


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that it would run, without their programs."""
    found: list[list[str]] = []

    def note(what: str, command: list[str], variables: object = None) -> None:
        found.append(command[1:])
        if "venv" in command:
            Path(command[-1]).mkdir()

    monkeypatch.setattr(install, "run", note)
    monkeypatch.setattr(install, "pip_settings", lambda python: {})
    return found


def test_uv_itself_is_pinned_by_the_lock() -> None:
    pin, *hashes = install.pinned_uv().split()
    assert pin == f"uv=={PACKAGES['uv']['version']}"
    assert len(hashes) > 10


def test_an_environment_keeps_what_was_asked_before(
    tmp_path: Path, commands: list[list[str]]
) -> None:
    install.add(tmp_path / "env", ["app", "s3"])
    assert commands[0][:2] == ["-m", "venv"]
    assert "--require-hashes" in commands[1] and "--require-hashes" in commands[3]
    del commands[:]
    install.add(tmp_path / "env", ["app"])
    assert commands == []  # nothing changed
    install.add(tmp_path / "env", ["dev"])
    assert [word for word in commands[0] if word in ("s3", "dev")] == ["s3", "dev"]
    assert len(commands) == 2  # the environment was not made again


def test_an_interrupted_installation_is_repeated(
    tmp_path: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    install.add(tmp_path / "env", ["app"])
    keep = install.run
    monkeypatch.setattr(install, "run", lambda *_: sys.exit("no network"))
    with pytest.raises(SystemExit):
        install.add(tmp_path / "env", ["s3"])
    monkeypatch.setattr(install, "run", keep)
    del commands[:]
    install.add(tmp_path / "env", ["app"])
    assert "s3" in commands[0]


def test_the_index_of_pip_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = https://a.example/simple\ntimeout = 7\n")
    for name in ("PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT", "PIP_TIMEOUT", "UV_DEFAULT_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    python = Path(sys.executable)
    variables = install.uv_variables(python)
    assert variables["UV_DEFAULT_INDEX"] == "https://a.example/simple"
    assert variables["UV_HTTP_TIMEOUT"] == "7"
    monkeypatch.setenv("PIP_INDEX_URL", "https://b.example/simple")
    assert install.uv_variables(python)["UV_DEFAULT_INDEX"] == "https://b.example/simple"


def test_a_python_of_root_alone_is_refused_for_a_service(tmp_path: Path) -> None:
    """Its user could not run the environment, which is links to that Python."""
    home = tmp_path / "home"
    python = home / "bin/python3.11"
    python.parent.mkdir(parents=True)
    python.touch()
    (tmp_path / "python3").symlink_to(python)
    home.chmod(0o700)
    with pytest.raises(SystemExit, match=f"{home} is closed to other users"):
        install.refuse_private_python(tmp_path / "python3")


def test_the_python_of_the_system_is_taken() -> None:
    install.refuse_private_python(Path("/usr/bin/env"))
