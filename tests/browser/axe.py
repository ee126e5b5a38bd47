"""axe-core, which finds what people with assistive technology cannot use.

It is a file of the npm registry with a pinned digest, kept next to the browser. It is no part of
the product.
"""

import base64
import hashlib
import io
import os
import tarfile
import urllib.request
from functools import cache

from lab.services.locks import locked
from tests.browser.pinned import CACHE, LONGEST_S, PATIENCE_S, WrongDigest
from tests.browser.tab import Tab

VERSION = "4.11.0"
# As the registry has it: npm view axe-core@VERSION dist.integrity
SHA512 = "ilYanEU8vxxBexpJd8cWM4ElSQq4QctCLKih0TSfjIfCQTeyH/6zVrmIJfLPrKTKJRbiG+cfnZbQIjAlJmF1jQ=="
FILE = CACHE / f"axe-{VERSION}.js"
# Without fetching the styles again, which the policy of the pages refuses.
# Each fault as one line: the rule, and the first places where it is broken.
RUN = """axe.run(document, {preload: false, resultTypes: ["violations"]}).then(
  ({violations}) => violations.map(
  ({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 99)).join(" | ")}`))"""
CONTRAST = RUN.replace("{preload", '{runOnly: ["color-contrast"], preload')


def faults_of(tab: Tab) -> list[str]:
    """What axe-core finds on the page that is open, and how it can be read in dark colours."""
    tab.run(f"{_source()}; void 0")
    found: list[str] = tab.run(RUN)
    with tab.dark():
        return found + [f"dark: {fault}" for fault in tab.run(CONTRAST)]


@cache
def _source() -> str:
    """Raises: OSError if the registry cannot be reached, WrongDigest."""
    CACHE.mkdir(exist_ok=True)
    with locked(CACHE / "lock", LONGEST_S):
        if not FILE.exists():
            unfinished = FILE.with_suffix(".new")
            unfinished.write_bytes(_download())
            unfinished.rename(FILE)
    return FILE.read_text()


def _download() -> bytes:
    registry = os.environ.get("NPM_CONFIG_REGISTRY") or "https://registry.npmjs.org"
    address = f"{registry.rstrip('/')}/axe-core/-/axe-core-{VERSION}.tgz"
    with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
        packed = answer.read()
    if base64.b64encode(hashlib.sha512(packed).digest()).decode() != SHA512:
        raise WrongDigest(address)
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        return archive.extractfile("package/axe.min.js").read()
