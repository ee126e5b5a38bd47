"""`--help` of the commands on relations says what they do and which flags they take."""

import pytest

from infra.jobs.flags import JobFlag
from relations.management.commands import (
    audit_edges,
    backfill_backward_edges,
    rebuild_relation_caches,
    reset_relations,
)

SHARED = {f"--{flag.value.replace('_', '-')}" for flag in JobFlag} | {"--json"}
OWN = {
    audit_edges: {"--repair"},
    backfill_backward_edges: set(),
    rebuild_relation_caches: set(),
    reset_relations: {"--yes", "--keep-blocks"},
}


@pytest.mark.parametrize("module", OWN, ids=lambda module: module.__name__.rpartition(".")[2])
def test_help_names_purpose_and_flags(module):
    command = module.Command()
    text = command.create_parser("manage.py", module.__name__).format_help()
    shared = SHARED - {"--shard"} if module is reset_relations else SHARED
    assert all(flag in text for flag in shared | OWN[module])
    assert " ".join(command.help.split()[:5]) in " ".join(text.split())
