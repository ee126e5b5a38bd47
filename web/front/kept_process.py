"""A process that the front keeps: it starts again when it ends, until it is stopped."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from contextlib import suppress

import structlog
from django.conf import settings

LAUNCHER = str(settings.BASE_DIR / "infra/processes/launcher.py")
# The pause before a restart doubles up to the longest, and is short again after a long life.
_SHORTEST_S, _LONGEST_S, _LONG_LIFE_S = 1.0, 30.0, 60.0
# More than a web server needs to drain (python -m web --linger, --finish).
_STOP_S = 40.0
log = structlog.get_logger()


class KeptProcess:
    """`command`: arguments of Python. It ends with the front, also if that is killed."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self._command, self._environment = command, environment
        self._process: Process | None = None
        self._keeping = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Asks it to end, and kills it after 40 seconds."""
        self._keeping.cancel()
        with suppress(asyncio.CancelledError):
            await self._keeping
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_S):
                await self._process.wait()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def _keep(self) -> None:
        pause_s, clock = _SHORTEST_S, asyncio.get_running_loop().time
        while True:
            began_s = clock()
            self._process = await self._start()
            code = await self._process.wait()
            pause_s = _SHORTEST_S if clock() - began_s > _LONG_LIFE_S else pause_s
            log.warning("front.child_ended", child=self.name, code=code, again_in_s=pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_S)

    async def _start(self) -> Process:
        before = [str(os.getpid()), str(int(signal.SIGTERM)), "-1", "-1"]
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", LAUNCHER, *before, sys.executable, *self._command),
            env=self._environment,
            cwd=settings.BASE_DIR,
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
