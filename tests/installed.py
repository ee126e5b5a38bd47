"""Tideline installed in a folder as the tutorial says. Its units start without systemd.

The folder stands for the root of the machine: each of PLACES is inside it, in the files of deploy/
and in the commands of the document. A process of a unit has its user, umask, environment and
folders. For root its user is root without its privileges, because Python may be in root's home:
like Tideline's user it may write what is its own, and the installation is not.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.runner.child import CHECKOUT

PLACES = re.compile(
    r"(?<![\w/.}-])/(?=(?:etc/tideline|etc/ssl|etc/nginx|opt/tideline|run/tideline|var/lib/tideline)\b)"
)
TUTORIAL = CHECKOUT / "docs/tutorials/from-an-empty-debian-to-a-site.md"
# Owns what belongs to root on a machine. No process of a test has this number.
OWNER = 61_001
IS_ROOT = os.geteuid() == 0
# Root may still enter folders: sockets of servers are in private ones.
UNPRIVILEGED = ["setpriv", "--bounding-set", "-all,+dac_read_search"] if IS_ROOT else []
# Not what Python compiled: processes that may not write would do it again and again.
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "tests", "lab")


class Installation:
    """`root`: the folder that stands for the machine's root. `name`: the host name of the site."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        self.name = name
        self.checkout = root / "opt/tideline"
        self.settings_file = root / "etc/tideline/tideline.env"

    def copy_checkout(self) -> None:
        """In place of `git clone` and `make app-packages`: with the packages of the tests."""
        shutil.copytree(CHECKOUT, self.checkout, ignore=LEFT_OUT)
        (self.checkout / ".venv").symlink_to(sys.prefix)
        for file in filter(Path.is_file, (self.checkout / "deploy").rglob("*")):
            file.write_text(self.inside(file.read_text()))
        for folder in ("etc/nginx/conf.d", "etc/ssl/private", "etc/ssl/certs", "run", "var/lib"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "bin").mkdir()
        # deploy/manage must not take the user of these processes for root.
        (self.root / "bin/id").write_text("#!/bin/sh\necho 1000\n")
        (self.root / "bin/id").chmod(0o755)

    def close(self) -> None:
        """What was installed belongs to another user than the one of the units."""
        if IS_ROOT:
            subprocess.run(["chown", "-R", "--no-dereference", str(OWNER), self.root], check=True)
            os.chown(self.settings_file, 0, 0)

    def inside(self, text: str) -> str:
        return PLACES.sub(f"{self.root}/", text)

    def step(self, number: int, *left_out: str) -> str:
        """The commands of a step of the document, without the lines that begin with these words."""
        chapter = TUTORIAL.read_text().partition(f"\n## {number}. ")[2]
        block = chapter.partition("```sh\n")[2].partition("```\n")[0]
        lines = [one for one in block.splitlines() if not one.startswith(left_out)]
        return self.inside("\n".join(lines)).replace("--owner=tideline", f"--owner={os.geteuid()}")

    def run(self, commands: str) -> None:
        """As the person who installs it. Fails as soon as one of the commands does."""
        self._shell(commands, [], self.environment({})).check_returncode()

    def run_as_unit(self, commands: str) -> "subprocess.CompletedProcess[str]":
        """As Tideline's user, in a shell with the umask of the units."""
        return self._shell(f"umask 0077\n{commands}", UNPRIVILEGED, self.environment({}))

    def _shell(
        self, commands: str, before: list[str], environment: Mapping[str, str]
    ) -> "subprocess.CompletedProcess[str]":
        argv = [*before, "sh", "-euc", f"NAME={self.name}\n{commands}"]
        return subprocess.run(
            argv, cwd=self.checkout, env=environment, capture_output=True, text=True
        )

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        """No variable of the tests reaches the installation."""
        return {"PATH": f"{self.root}/bin:{os.environ['PATH']}", **settings}

    def settings(self) -> dict[str, str]:
        lines = self.settings_file.read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if re.match(r"[A-Z_]+=", line))

    def change_settings(self, changed: Mapping[str, str]) -> None:
        """As in an editor."""
        lines = [f"{name}={value}" for name, value in {**self.settings(), **changed}.items()]
        self.settings_file.chmod(0o600)
        self.settings_file.write_text("\n".join(lines) + "\n")
        self.settings_file.chmod(0o400)

    def unit(self, name: str) -> dict[str, list[str]]:
        """The values of a unit and of what all units have, by their names."""
        folder = self.checkout / "deploy/systemd"
        text = (folder / name).read_text() + (
            folder / "tideline-.service.d/common.conf"
        ).read_text()
        found: dict[str, list[str]] = {}
        for key, value in re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE):
            found.setdefault(key, []).append(value)
        return found

    def run_unit(self, name: str) -> None:
        """Runs a unit to its end, as `systemctl start` does for this kind."""
        unit = self.unit(name)
        for command in unit["ExecStart"]:
            subprocess.run(shlex.split(command), check=True, **self._of(unit))

    def start_unit(self, name: str, log: Path, instance: str) -> "subprocess.Popen[bytes]":
        unit = self.unit(name)
        [command] = unit["ExecStart"]
        argv = [*UNPRIVILEGED, *shlex.split(command.replace("%i", instance))]
        with log.open("w") as output:
            return subprocess.Popen(argv, stdout=output, stderr=output, **self._of(unit))

    def _of(self, unit: Mapping[str, list[str]]) -> dict[str, Any]:
        """Makes the folders of a unit, and gives what its processes start with."""
        for base, key in (("var/lib", "StateDirectory"), ("run", "RuntimeDirectory")):
            folder = self.root / base / unit[key][0]
            if not folder.exists():
                folder.mkdir(parents=True)
                folder.chmod(int(unit[f"{key}Mode"][0], 8))
        of_unit = dict(word.split("=", 1) for line in unit["Environment"] for word in line.split())
        assert unit["EnvironmentFile"] == [str(self.settings_file)]
        return {
            "env": self.environment({**of_unit, **self.settings()}),
            "cwd": unit["WorkingDirectory"][0],
            "umask": int(unit["UMask"][0], 8),
        }
