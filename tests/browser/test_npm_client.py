"""The npm package of the client, in Node: against answers of a test, and against a Tideline."""

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import playwright
import pytest

from accounts.scopes import OF_SERVICES
from lab.accept.facts import openapi_document
from lab.client.names import NAMES
from lab.client.npm import write_package
from lab.client.typescript import camel
from lab.runner.port import HOST, free_port
from tests.browser.artifacts import ARTIFACTS
from tests.browser.live_site import delivering
from tests.browser.serving import running_site
from tests.callers import token_of
from tests.integration.integrations.services import Service
from tests.integration.streaming.serving import running_streams
from tests.pictures import picture
from tests.world import make_account

PROGRAMS = Path(__file__).parent / "npm"
# The driver of the browser brings it, so no machine skips these tests.
NODE = Path(playwright.__file__).parent / "driver/node"
# It can take types away, and so reads them.
READ_TYPES = """
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
for (const path of process.argv.slice(1)) stripTypeScriptTypes(readFileSync(path, "utf8"));
"""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a product that has installed the package."""
    folder = tmp_path_factory.mktemp("product")
    write_package(openapi_document(), folder / "node_modules/tideline-client")
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    return folder


def _run(product: Path, *words: str, **variables: str) -> str:
    argv = [str(NODE), "--no-warnings", *words]
    done = subprocess.run(
        argv, cwd=product, env=os.environ | variables, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_has_all_calls_and_types(product: Path) -> None:
    package = product / "node_modules/tideline-client"
    types = [package / "operations.d.ts", package / "tideline.d.ts"]
    _run(product, "--input-type=module", "--eval", READ_TYPES, "--", *map(str, types))
    text = types[0].read_text()
    for line in NAMES.split("\n\n"):
        for name in (words.split()[0] for words in line.splitlines() if words):
            assert f"  {camel(name.partition('.')[2])}(" in text, name
    assert {"LICENSE", "README.md", "package.json"} <= {path.name for path in package.iterdir()}


def test_calls_are_sent_repeated_and_refused(product: Path) -> None:
    assert "\n# pass 9\n" in _run(product, "--test", "--test-reporter=tap", "calls.test.mjs")


@pytest.fixture
def address(world: None, worker_id: str) -> Iterator[str]:
    """All processes have one address: the caches of a site have it in their names."""
    web, streams = free_port(), free_port()
    own = {"PUBLIC_URL": f"http://{HOST}:{web}", "STREAMING_URL": f"ws://{HOST}:{streams}"}
    logs = [ARTIFACTS / f"npm-{name}-{worker_id}.log" for name in ("web", "streams")]
    with (
        running_site(logs[0], port=web, environment=own) as site,
        running_streams(logs[1], port=streams, **own),
        delivering(worker_id, **own),
    ):
        yield site


def test_a_product_uses_it_against_a_site(product: Path, address: str) -> None:
    tokens = {"SERVICE_TOKEN": Service(*OF_SERVICES).made.token}
    tokens["READER_TOKEN"] = Service("service:read").made.token
    tokens["BEN_TOKEN"] = token_of(make_account())
    image = base64.b64encode(picture()).decode()
    words = ("--test", "--test-reporter=tap", "site.test.mjs")
    told = _run(product, *words, TIDELINE_URL=address, IMAGE=image, **tokens)
    assert "\n# pass 2\n" in told
