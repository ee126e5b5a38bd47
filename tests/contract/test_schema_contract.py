"""The OpenAPI document against a running web server: schemathesis with all checks, also stateful.

Two identities: what one creates, the other must not read unless the API shows it. The same requests
each time; `make test-random` draws others. Cost: a minute and a half.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from lab.runner.child import CHECKOUT
from tests.browser.serving import running_site
from tests.contract.small_world import SmallWorld, make_small_world

HERE = Path(__file__).parent
HOOKS = "tests.contract.schemathesis_hooks"
CASES_PER_OPERATION = 3
# Operations of which no request was accepted, so that most checks had nothing to check: those that
# need an id which is rarely drawn, as of a notification, an image or a subscription.
MOST_NEVER_ACCEPTED = 36
# Far above that: a crowded machine is not a hung server.
PATIENCE_S = 850
AUTH = """
auth:
  - name: me
    fixedHeaders: [{{name: Authorization, value: Bearer {mine}}}]
  - name: other
    fixedHeaders: [{{name: Authorization, value: Bearer {others}}}]
"""


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quotas would end the run."""
    for name in ("QUOTA_PER_ACCOUNT", "FOLLOWS_PER_DAY", "REPORTS_PER_DAY"):
        monkeypatch.setenv(name, "1000000")


@pytest.mark.slow
@pytest.mark.hypothesis
def test_the_api_does_what_its_schema_says(
    world: None, unlimited: None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with running_site(tmp_path / "web.log") as address:
        report, output = run_schemathesis(address, make_small_world(), tmp_path, seed_of(request))
    assert report["operations"]["errored"] == 0, output
    assert report["operations"]["tested"] == report["operations"]["total"] > 50, output
    assert {name for name, one in report["phases"].items() if one["status"] == "success"} >= {
        "coverage",
        "fuzzing",
        "stateful",
    }, output
    assert (report["failures"], report["errors"]) == ([], []), output
    never = [name for name, count in accepted_by_name(report).items() if not count]
    assert len(never) <= MOST_NEVER_ACCEPTED, never


def seed_of(request: pytest.FixtureRequest) -> str:
    """The seed of `make test-random`, else always the same."""
    return str(request.config.getoption("--hypothesis-seed") or 1)


def run_schemathesis(
    address: str, people: SmallWorld, folder: Path, seed: str
) -> tuple[dict[str, Any], str]:
    auth, report = folder / "auth.yml", folder / "report.json"
    auth.write_text(AUTH.format(**people._asdict()))
    options = ["--config-file", str(HERE / "schemathesis.toml"), "--no-color", "run"]
    run = [f"{address}/api/schema", "--auth-wfc", str(auth), "--seed", seed, "--no-shrink"]
    run += ["--checks", "all", "--continue-on-failure", "--max-examples", str(CASES_PER_OPERATION)]
    run += ["--report", "json", "--report-json-path", str(report)]
    modules = os.pathsep.join([str(CHECKOUT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", *options, *run],
        env=os.environ | {"SCHEMATHESIS_HOOKS": HOOKS, "PYTHONPATH": modules},
        cwd=folder,  # it keeps a cache of failures there
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    return orjson.loads(report.read_bytes()), done.stdout


def accepted_by_name(report: dict[str, Any]) -> dict[str, int]:
    """How many requests of each operation were accepted. None: its checks had nothing to check."""
    return {
        name: sum(phase["accepted"] for phase in phases.values())
        for name, phases in report["valid_rates"].items()
    }
