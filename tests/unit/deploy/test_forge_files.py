"""What a forge and other tools read agrees with the project: versions, commands, templates."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from lab.services.machine import OLDEST_POSTGRES

CHECKOUT = Path(__file__).parents[3]
FORGE = CHECKOUT / ".github"
CI: dict[str, Any] = yaml.safe_load((FORGE / "workflows/ci.yml").read_text())
MATRIX: list[dict[str, str]] = CI["jobs"]["tests"]["strategy"]["matrix"]["include"]
CLASSIFIERS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["classifiers"]


def tried(what: str) -> set[str]:
    return {line[what] for line in MATRIX}


def claimed(start: str) -> set[str]:
    found = (re.fullmatch(rf"{start} :: ([\d.]+)", line) for line in CLASSIFIERS)
    return {match[1] for match in found if match}


def test_ci_tries_each_version_that_the_package_claims() -> None:
    assert tried("python") == claimed("Programming Language :: Python")
    assert tried("django") == claimed("Framework :: Django")
    assert tried("postgres") == {str(major) for major in range(OLDEST_POSTGRES, 19)}


def test_ci_runs_targets_that_there_are() -> None:
    text = (FORGE / "workflows/ci.yml").read_text()
    targets = set(re.findall(r"run: make ([\w-]+)", text))
    assert targets == {"check", "dev-packages", "test", "test-all", "faults"}
    makefile = (CHECKOUT / "Makefile").read_text()
    assert targets <= set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))


def test_forms_for_issues_can_be_shown() -> None:
    """A forge ignores a form without one of these, and says nothing."""
    for file in (FORGE / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(file.read_text())
        if file.name != "config.yml":
            assert {"name", "description", "body"} <= form.keys()
            assert all({"type", "attributes"} <= part.keys() for part in form["body"])


def test_hooks_run_programs_that_make_check_runs() -> None:
    hooks = yaml.safe_load((CHECKOUT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    check = (CHECKOUT / "Makefile").read_text().replace("$(IN_VENV)", ".venv/bin/python")
    for hook in hooks:
        assert hook["entry"] in check
