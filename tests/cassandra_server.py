"""A Cassandra node for tests, of the packages of Maven Central, on this machine's Java.

Nothing is installed: Maven copies the packages to a folder of the checkout, once.
"""

import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGCONT, SIGSTOP

from infra.processes.free_ports import free_ports
from lab.runner.port import HOST
from lab.services.locks import locked
from lab.services.spawn import log_tail, server_environment, spawn
from tests.distribution import CACHE, LONGEST_S
from tests.waiting import until
from timelines.stores.cassandra_url import CassandraServers

VERSION = "5.0.5"
REASON = f"no Java 17, or no Maven that brings Cassandra {VERSION}"
KEYSPACE, DATACENTER = "tideline", "datacenter1"
POM = f"""
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>tideline</groupId><artifactId>cassandra</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId>
    <version>{VERSION}</version>
  </dependency></dependencies>
</project>
"""
CONFIGURATION = """
cluster_name: tideline
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: batch
commitlog_directory: {folder}/commitlog
data_file_directories: [{folder}/data]
saved_caches_directory: {folder}/saved
hints_directory: {folder}/hints
cdc_raw_directory: {folder}/cdc
auto_snapshot: false
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "{host}:{storage_port}"}}]
listen_address: {host}
rpc_address: {host}
native_transport_port: {port}
storage_port: {storage_port}
start_native_transport: true
memtable_heap_space: 64MiB
"""
LOGGING = """
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
"""
# As Cassandra's own jvm17-server.options has them.
EXPORTS = """
java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/sun.nio.ch java.base/java.lang.ref
java.base/java.lang.reflect java.management.rmi/com.sun.jmx.remote.internal.rmi
java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql
"""
OPENS = """
java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref
java.base/jdk.internal.reflect java.base/jdk.internal.math java.base/jdk.internal.module
java.base/jdk.internal.util.jar java.base/sun.nio.ch java.base/java.io java.base/java.nio
java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic
java.base/java.lang jdk.management/com.sun.management.internal
"""


class CassandraNode:
    """Killed and started again it has the same data and ports."""

    def __init__(self, packages: Path, folder: Path) -> None:
        self._folder = folder
        port, storage_port, self._jmx_port = free_ports(3)
        self.servers = CassandraServers((HOST,), port, KEYSPACE, DATACENTER, "", "")
        text = CONFIGURATION.format(folder=folder, host=HOST, port=port, storage_port=storage_port)
        (folder / "cassandra.yaml").write_text(text)
        (folder / "logback.xml").write_text(LOGGING)
        self._words = [
            str(shutil.which("java")), "-Xms256m", "-Xmx512m", "-XX:+UseSerialGC",
            *(f"--add-exports={name}=ALL-UNNAMED" for name in EXPORTS.split()),
            *(f"--add-opens={name}=ALL-UNNAMED" for name in OPENS.split()),
            f"-Dcassandra.config=file://{folder}/cassandra.yaml",
            f"-Dcassandra.storagedir={folder}",
            "-Dcassandra-foreground=yes",
            f"-Dcassandra.jmx.local.port={self._jmx_port}",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0",
            "-Dcassandra.ring_delay_ms=100",
            "-cp", f"{folder}:{packages}/*",
            "org.apache.cassandra.service.CassandraDaemon",
        ]  # fmt: skip
        self.start()

    def start(self) -> None:
        log = self._folder / "output"
        self._process = spawn(self._words, log, env=server_environment())
        until(self._listens, said=lambda: log_tail(log))

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        self._process.send_signal(SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)
        try:
            yield
        finally:
            self.resume()

    def resume(self) -> None:
        self._process.send_signal(SIGCONT)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self.servers.port)) == 0


def find_cassandra() -> Path | None:
    """The folder of its packages. None: there is no Java 17, or Maven does not bring them."""
    if _java_version() < 17 or not shutil.which("mvn"):
        return None
    folder = CACHE / f"cassandra-{VERSION}"
    CACHE.mkdir(exist_ok=True)
    with locked(CACHE / "lock", LONGEST_S):
        if not folder.exists():
            _download(folder)
    return folder if folder.exists() else None


@contextmanager
def running_cassandra(packages: Path) -> Iterator[CassandraNode]:
    """An empty node of its own data centre."""
    with tempfile.TemporaryDirectory(prefix="tideline-cassandra-") as name:
        node = CassandraNode(packages, Path(name))
        try:
            yield node
        finally:
            node.kill()


def _java_version() -> int:
    try:
        done = subprocess.run(["java", "-version"], capture_output=True, text=True)
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found[1]) if found else 0


def _download(target: Path) -> None:
    """The folder gets its name when it is complete. Maven checks the digests."""
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        Path(name, "pom.xml").write_text(POM)
        words = ["mvn", "-B", "-q", "dependency:copy-dependencies", "-DoutputDirectory=packages"]
        done = subprocess.run(words, cwd=name, capture_output=True)
        if done.returncode == 0:
            Path(name, "packages").rename(target)
