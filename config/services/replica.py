"""A streaming replica of a PostgreSQL server that runs beside it."""

import shutil

from config.services.cluster import OWNER
from config.services.errors import ServerDidNotStart
from config.services.logs import log_tail
from config.services.postgres import PostgresServer
from config.services.spawn import server_environment, spawn


class ReplicaServer(PostgresServer):
    """Of the shard that `source` serves; read-only, and always a little behind."""

    def copy(self, source: PostgresServer) -> None:
        """Makes the data folder anew from the running source: what an old one lacks may be in no
        log any more. Raises ServerDidNotStart. Cost: 0.5 s, 37 MB.
        """
        shutil.rmtree(self.data, ignore_errors=True)
        process = spawn(
            [
                str(self.binary.program.with_name("pg_basebackup")),
                f"--pgdata={self.data}",
                f"--dbname={source.url}",
                f"--username={OWNER}",
                "--checkpoint=fast",
                "--no-sync",
                "--write-recovery-conf",
            ],
            self._log,
            env=server_environment(),
            user=self._user,
        )
        if code := process.wait():
            tail = log_tail(self._log)
            raise ServerDidNotStart("pg_basebackup", f"exit code {code}", self._log, tail)
