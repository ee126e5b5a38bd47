"""Checkpoints: a job's place, kept by job and scope."""

from infra.jobs.checkpoints import delete_checkpoint, find_checkpoint, save_checkpoint
from infra.jobs.models import JobCheckpoint


def test_last_place_is_found_again(world):
    save_checkpoint("load_graph", "file-a", {"line": 1})
    first = JobCheckpoint.objects.get()
    save_checkpoint("load_graph", "file-a", {"line": 2, "ids": [2**60]})
    assert find_checkpoint("load_graph", "file-a") == {"line": 2, "ids": [2**60]}
    assert JobCheckpoint.objects.get().updated_at > first.updated_at


def test_jobs_and_scopes_are_kept_apart(world):
    save_checkpoint("load_graph", "file-a", 1)
    save_checkpoint("load_graph", "file-b", 2)
    save_checkpoint("recount", "file-a", 3)
    places = [("load_graph", "file-a"), ("load_graph", "file-b"), ("recount", "file-a")]
    assert [find_checkpoint(*place) for place in places] == [1, 2, 3]
    delete_checkpoint("load_graph", "file-a")
    assert [find_checkpoint(*place) for place in places] == [None, 2, 3]


def test_job_that_never_ran_has_none(world):
    assert find_checkpoint("load_graph", "file-a") is None
    delete_checkpoint("load_graph", "file-a")
