"""Lua scripts, which a Redis server knows by the hash of their text.

A command names the hash only. A server that does not know it is sent the text by client.py.
"""

from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

from infra.evidence import Command, parts_of


class LuaScript(NamedTuple):
    """A Lua script. All keys of a call belong to one owner, so it runs on one cluster node."""

    body: str
    sha: str

    def on(self, keys: Sequence[bytes], *args: Any) -> Command:
        """The command that runs the script."""
        return ("EVALSHA", self.sha, len(keys), *keys, *args)


def load_script(*paths: Path) -> LuaScript:
    """One script made of these files in this order: code that several scripts share comes first."""
    body = "".join([path.read_text() for path in paths])
    return scripts_by_sha.setdefault(
        sha := sha1(body.encode(), usedforsecurity=False).hexdigest(), LuaScript(body, sha)
    )


scripts_by_sha: dict[str, LuaScript] = {}


def with_body(command: Command) -> Command:
    """The same script call with the text, for a server that does not know the script yet."""
    _, sha, *others = parts_of(command)
    name = sha.decode() if isinstance(sha, bytes) else sha
    return ("EVAL", scripts_by_sha[name].body, *others)
