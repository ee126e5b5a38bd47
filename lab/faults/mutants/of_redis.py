"""Mutants of what a process does when Redis was away, refuses writes or is another server."""

from lab.faults.mutants.mutant import Edit, Mutant

_PROOFS = "tests/integration/caching/test_listener_proofs.py"

OF_REDIS = (
    Mutant(
        "kept calls forgotten",
        "What Redis did not get during a pause is never sent.",
        ("F35",),
        (
            Edit(
                "infra/caching/client.py",
                "        self._unsent.keep(Call(run, where), items)\n",
                "",
            ),
        ),
    ),
    Mutant(
        "identity ignored",
        "Data of an old dump of Redis are used.",
        ("F6",),
        (
            Edit(
                "infra/caching/server_identity.py",
                "        if identity not in _text_of(libraries):\n",
                "        if not libraries:\n",
            ),
        ),
    ),
    Mutant(
        "refusals unnoticed",
        "A process reads from a Redis that refuses writes.",
        ("F44",),
        (
            Edit(
                "infra/caching/connected_server.py",
                "        if asked_at < self._accepted_at + ACCEPTED_S:\n",
                "        if asked_at > self._accepted_at:\n",
            ),
        ),
    ),
    Mutant(
        "copies of a deaf process",
        "What a process read while no message could arrive is kept when messages arrive again.",
        (),
        (
            Edit(
                "infra/caching/listener.py",
                "        LISTENING.set(1)\n        forget_all_copies()\n",
                "        LISTENING.set(1)\n",
            ),
        ),
        (f"{_PROOFS}::test_what_was_read_while_no_message_could_arrive_is_not_kept",),
    ),
    Mutant(
        "proof from the answer",
        "A PING proves what was published before its answer, not before its question.",
        (),
        (
            Edit(
                "infra/caching/listener.py",
                "            self._proved_at = asked_at\n",
                "            self._proved_at = time.monotonic()\n",
            ),
        ),
        (f"{_PROOFS}::test_an_answer_proves_nothing_of_the_time_after_its_question",),
    ),
)
