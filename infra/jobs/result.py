"""What a run says at its end, to a person or to a program."""

from typing import Any

from infra.jobs.types import Tally


def build_result(job: str, tally: Tally, dry_run: bool, code: int) -> dict[str, Any]:
    """What --json prints. `changed` is None where the job cannot tell."""
    return {
        "job": job,
        "dry_run": dry_run,
        "done": tally.done,
        "changed": tally.changed,
        "failed": tally.failed,
        "exit": code,
    }


def build_sentence(tally: Tally, dry_run: bool, unit: str) -> str:
    done = f"{tally.done:,} {unit} {'looked at' if dry_run else 'done'}"
    would = "would change" if dry_run else "changed"
    changed = "" if tally.changed is None else f", {tally.changed:,} {would}"
    return f"{done}{changed}, {tally.failed:,} failed"
