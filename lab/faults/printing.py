"""Shows a result in the terminal."""

from lab.faults.experiments.types import ExperimentResult


def print_result(result: ExperimentResult) -> None:
    state = "held" if result.held else result.skipped or "DOES NOT HOLD"
    print(
        f"{result.number}: {result.title}: {state} ({result.took_s:.0f} s, {result.calls} calls,"
        f" {result.errors} errors, recovered in {result.recovered_s:.1f} s)",
        *(f"    {text}" for text in result.figures),
        *(
            f"    {_mark(finding.held)} {finding.what}: {finding.detail}"
            for finding in result.findings
        ),
        sep="\n",
        flush=True,
    )


def _mark(held: bool) -> str:
    return "ok  " if held else "FAIL"
