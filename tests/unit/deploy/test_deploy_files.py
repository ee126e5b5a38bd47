"""What is in deploy/ names things that there are: settings, commands, modules, files.

Docker is not needed. The Procfile's lines are started by tests/faults/test_graceful_stop.py.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.reference.commands import command_names
from lab.reference.settings import declared
from tests.architecture.test_docs import read_elsewhere

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
UNITS = sorted(filter(Path.is_file, DEPLOY.glob("systemd/tideline*")))
COMMON = Path("tideline-.service.d/common.conf")
# Of systemd-analyze security: 0 is nothing to reach, 10 is all.
MOST_EXPOSED = 3.0
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
MACHINES: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.machines.yaml").read_text())
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
PROCFILE = dict(
    line.split(": ", 1) for line in (DEPLOY / "Procfile").read_text().splitlines() if line
)
# What other programs read.
OTHERS = {
    "PATH", "PYTHONUNBUFFERED", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "STORES_ADDRESS",
    "SHARED_MEDIA",
}  # fmt: skip
NEEDED = {"SECRET_KEY", "ALLOWED_HOSTS", "PUBLIC_URL", "DATABASE_URL", "SHARD_DATABASE_URLS"}
# Without them the site starts, and people miss something.
WANTED = {"REDIS_URL", "MEDIA_DIR", "MAIL_URL", "MAIL_FROM", "VAPID_PRIVATE_KEY", "VAPID_CONTACT"}


def example_names() -> set[str]:
    return set(re.findall(r"^([A-Z_]+)=", (DEPLOY / "tideline.env.example").read_text(), re.M))


def commands() -> list[str]:
    """Every command line of ours in deploy/."""
    composed = [s["command"] for s in services().values() if "command" in s and is_ours(s)]
    started = [
        line for unit in UNITS for line in re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.M)
    ]
    ends = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.M)
    inner = [part for line in composed for part in re.split(r'sh -c "|"| && ', line) if part]
    return [*inner, *started, *PROCFILE.values(), *(shlex.join(yaml.safe_load(e)) for e in ends)]


def services() -> dict[str, dict[str, Any]]:
    return COMPOSE["services"]


def is_ours(service: dict[str, Any]) -> bool:
    return service["image"] == "tideline"


@pytest.mark.parametrize("line", commands())
def test_commands_start_what_there_is(line: str):
    program, *words = shlex.split(re.sub(r"\$\{\w+:-(\d+)\}", r"\1", line))
    name = Path(program).name
    if words[0] == "-m":
        assert name == "python"
        assert importlib.util.find_spec(words[1])
        assert_understood([sys.executable, *words[:2], "--help"], words[2:])
    else:
        assert (name, words[0]) == ("python", "manage.py")
        assert {words[1], " ".join(words[1:3])} & {*command_names()}


def assert_understood(help_command: list[str], words: list[str]) -> None:
    text = subprocess.run(help_command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for word in words:
        if word.startswith("--"):
            assert word in text


def test_the_same_processes_are_everywhere():
    assert {*PROCFILE} == {"web", "streaming", "worker", "compensator"} <= {*services()}
    names = {unit.name for unit in UNITS}
    assert {
        "tideline-web@.service",
        "tideline-streaming.service",
        "tideline-worker.service",
        "tideline-compensate.service",
    } <= names
    target = (DEPLOY / "systemd/tideline.target").read_text()
    for wanted in re.findall(r"tideline-[\w@]+\.service", target):
        assert re.sub(r"@\d+", "@", wanted) in names


def test_every_variable_is_a_setting():
    composed = {name for s in services().values() if is_ours(s) for name in s["environment"]}
    written = " ".join(unit.read_text() for unit in UNITS)
    in_units = set(re.findall(r"\b([A-Z_]{4,})=", written))
    in_image = set(re.findall(r"^(?:ENV |    )([A-Z_]+)=", DOCKERFILE, re.M)) - {"SECRET_KEY"}
    named = example_names() | composed | in_units | in_image
    assert named - OTHERS <= {*declared()} | read_elsewhere()


def test_the_example_says_what_production_has_to():
    assert example_names() >= NEEDED | WANTED


def test_the_proxy_logs_no_query_and_no_referrer():
    """Browsers send the token of a WebSocket in the query."""
    text = (DEPLOY / "nginx/tideline.conf").read_text()
    lines = text[text.index("log_format tideline") :].partition(";")[0]
    assert "$uri" in lines
    assert not {"$request ", "$request_uri", "$args", "$query_string", "$http_referer"} & {
        f"{word} " if word == "$request" else word for word in re.findall(r"\$\w+", lines)
    }
    assert "access_log" in text and " tideline;" in text


def test_the_folder_of_images_is_the_same_everywhere_and_may_be_written():
    """The processes may write nothing else on disk, so another folder would refuse every image."""
    folder = "/var/lib/tideline/media"
    assert f"\nMEDIA_DIR={folder}\n" in (DEPLOY / "tideline.env.example").read_text()
    common = (DEPLOY / "systemd" / COMMON).read_text().splitlines()
    assert {f"StateDirectory={folder.removeprefix('/var/lib/')}", "StateDirectoryMode=0750"} <= {
        *common
    }
    assert f"alias {folder}/;" in (DEPLOY / "nginx/tideline.conf").read_text()
    assert f"MEDIA_DIR={folder}\n" in DOCKERFILE
    for name, service in services().items():
        if is_ours(service):
            assert f"media:{folder}" in service["volumes"], name
    assert "media" in COMPOSE["volumes"]


def test_commands_run_with_the_environment_of_the_units():
    manage = (DEPLOY / "manage").read_text()
    for unit in UNITS:
        for name in re.findall(r"^(?:EnvironmentFile|User)=(.*)$", unit.read_text(), re.M):
            assert name in manage
        for variable in re.findall(r"\b(RUNTIME_DIR=\S+)", unit.read_text()):
            assert f"export {variable}\n" in manage
    assert "umask 0077\n" in manage
    assert os.access(DEPLOY / "manage", os.X_OK)


def test_a_service_waits_for_the_schema_and_for_nothing_that_there_is_not():
    for name, service in services().items():
        assert {*service.get("depends_on", {})} <= {*services()}
        if is_ours(service) and name != "migrate":
            assert service["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


def test_stores_of_compose_are_those_its_urls_name():
    environment = services()["web"]["environment"]
    urls = ",".join(environment.values())
    assert {*re.findall(r"@(\w+)/", urls)} == {"default", "shard0", "shard1"}
    for shard in re.findall(r"@(\w+)/", environment["SHARD_DATABASE_URLS"]):
        assert services()[shard]["volumes"] == [f"{shard}:/var/lib/postgresql/data"]
    assert "--appendonly no" in services()["valkey"]["command"]


def test_machines_run_the_services_of_one_machine():
    """Only where they run differs, and what of the stores others reach."""
    apart = MACHINES["services"]
    assert {*apart} == {*services()}
    for name, service in services().items():
        for key in ("image", "restart", "security_opt", "stop_grace_period"):
            assert apart[name].get(key) == service.get(key), (name, key)
        if is_ours(service):
            assert apart[name].get("command") == service.get("command")
            assert (apart[name]["cap_drop"], apart[name]["read_only"]) == (["ALL"], True)
            assert {*apart[name]["environment"]} == {*service["environment"]}
        else:
            assert all(port.startswith("${STORES_ADDRESS") for port in apart[name]["ports"])
            assert service.get("volumes") == apart[name].get("volumes")


def test_roles_of_machines_are_the_same_for_compose_and_systemd():
    roles: dict[str, set[str]] = {}
    for name, service in MACHINES["services"].items():
        [role] = service["profiles"]
        roles.setdefault(role, set()).add(name)
    assert roles == {
        "stores": {"default", "shard0", "shard1", "valkey"},
        "workers": {"migrate", "worker", "compensator"},
        "web": {"web", "streaming"},
        "tenants": {"front"},
    }
    wanted = {
        role: {*re.findall(r"tideline-(\w+)[@.]", _wants(f"tideline-{role}.target"))}
        for role in ("workers", "web")
    }
    assert wanted == {"workers": {"worker", "compensate"}, "web": {"web", "streaming"}}


def _wants(target: str) -> str:
    return " ".join(re.findall(r"^Wants=(.*)$", (DEPLOY / "systemd" / target).read_text(), re.M))


def test_ports_of_stores_are_those_of_the_urls():
    web = MACHINES["services"]["web"]["environment"]
    urls = ",".join(web.values())
    published = [
        port.rsplit(":", 2)[1]
        for service in MACHINES["services"].values()
        if not is_ours(service)
        for port in service["ports"]
    ]
    assert sorted(re.findall(r"STORES_ADDRESS\}:(\d+)/", urls)) == sorted(published)


def test_the_image_is_installed_by_hash_and_run_by_nobody_special():
    lines = DOCKERFILE.replace("\\\n", " ").splitlines()
    assert [
        line for line in lines if "pip install" in line and "--require-hashes" not in line
    ] == []
    assert [line.split()[0] for line in lines if line.startswith(("USER", "CMD"))] == [
        "USER",
        "CMD",
    ]
    assert {line.split()[1].partition(":")[2] for line in lines if line.startswith("FROM")} == {
        "3.11-slim-bookworm"
    }
    for copied in re.findall(r"^COPY (?!--from)(\S+)", DOCKERFILE, re.M):
        assert (ROOT / copied).exists()


def test_every_process_that_ends_is_started_again():
    for name, service in services().items():
        assert service["restart"] == ("no" if name == "migrate" else "unless-stopped")
    common = (DEPLOY / "systemd" / COMMON).read_text()
    assert "StartLimitIntervalSec=0" in common  # else five ends in ten seconds are the last
    for unit in UNITS:
        if unit.suffix == ".service" and "Type=oneshot" not in unit.read_text():
            assert {"Restart=always", "KillMode=mixed"} <= {*unit.read_text().splitlines()}


def test_stores_of_compose_want_a_password_and_are_not_reached_from_outside():
    valkey = services()["valkey"]
    assert "--requirepass ${REDIS_PASSWORD}" in valkey["command"]
    assert "${REDIS_PASSWORD" in services()["web"]["environment"]["REDIS_URL"]
    assert COMPOSE["networks"]["stores"] == {"internal": True}
    for service in services().values():
        assert service["networks"] == (["stores", "outside"] if is_ours(service) else ["stores"])


def test_containers_have_no_privileges():
    for service in services().values():
        assert service["security_opt"] == ["no-new-privileges:true"]
        if is_ours(service):
            assert (service["cap_drop"], service["read_only"]) == (["ALL"], True)


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, where the checkout is this one."""
    for each in [*UNITS, DEPLOY / "systemd" / COMMON]:
        text = re.sub(r"/opt/tideline/.venv/bin/\w+", sys.executable, each.read_text())
        target = tmp_path / each.relative_to(DEPLOY / "systemd")
        target.parent.mkdir(exist_ok=True)
        target.write_text(text.replace("/opt/tideline", str(ROOT)))
    return tmp_path


def analyze(units: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["systemd-analyze", *words], cwd=units, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_understood_by_systemd(unit: Path, units: Path):
    name = unit.name.replace("@.", "@8000.")
    said = analyze(units, "verify", "--man=no", f"./{name}")
    assert [line for line in said.stderr.splitlines() if "tideline" in line] == []


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
@pytest.mark.parametrize("name", [u.name for u in UNITS if u.suffix == ".service"])
def test_units_expose_little(name: str, units: Path):
    # It reads no drop-ins of a file, so they are appended.
    unit = units / name.replace("@.", "@8000.")
    lines = (units / COMMON).read_text().partition("[Service]")[2]
    unit.write_text((units / name).read_text().replace("[Service]", f"[Service]{lines}", 1))
    said = analyze(units, "security", "--offline=yes", f"./{unit.name}")
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", said.stdout)
    assert found, said.stderr
    assert float(found[1]) < MOST_EXPOSED
