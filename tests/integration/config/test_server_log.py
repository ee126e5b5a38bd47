"""The first and the last line of a web server's log."""

from pathlib import Path

from infra.version import VERSION
from tests.faults.hung_world import environment_of, serving
from tests.other_process import environment_of_this_test


def test_a_web_server_logs_its_start_and_its_stop(world: None, tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    own = {"INSTANCE_TITLE": "Harbour", "METRICS_TOKEN": "s3cr3t", "RUNTIME_DIR": str(tmp_path)}
    with serving(environment_of(environment_of_this_test() | own), log):
        started = log.read_text()
    for part in ("web.started", VERSION, "Harbour", "METRICS_TOKEN", "127.0.0.1:"):
        assert part in started, started
    assert "s3cr3t" not in started and "web.stopped" not in started
    assert "web.stopped" in log.read_text().splitlines()[-1]
