"""Keeps the last trial of each mutant, for the table of the page on mutants (lab/reference)."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.faults.mutants.catalogue import MUTANTS
from lab.faults.mutants.run import Trial

FILE = Path(__file__).with_name("results.json")
_RULES = re.compile(r"'([a-z ]+)': (\d+)")
# On the page. `results.json` has the findings in full, with the rules and how often.
_SHORT = {
    "audit 1 finds nothing": "audits",
    "audit 2 finds nothing": "audits",
    "all answers can be right": "answers",
    "the end state is what the writes leave": "end state",
    "nothing is shown after the answer": "answers",
    "nothing waits after 30 s of quiet": "no quiet",
}


@dataclass(frozen=True)
class KeptTrial:
    """`verdict`: "caught", "not caught", or "no verdict". `by`: the findings, in short."""

    experiment: str
    seed: int
    verdict: str
    by: str


def load_trials() -> dict[str, KeptTrial]:
    """By the name of the mutant."""
    return {name: KeptTrial(**fields) for name, fields in json.loads(FILE.read_text()).items()}


def keep_trial(trial: Trial, seed: int) -> None:
    """Replaces the kept trial of this mutant."""
    kept = load_trials() | {trial.name: _kept(trial, seed)}
    rows = {name: asdict(kept[name]) for name in sorted(kept)}
    FILE.write_text(json.dumps(rows, indent=2) + "\n")


def summary_of(trial: Trial) -> str:
    """What caught it: the rules with how often, or the finding itself."""
    texts = []
    for what, detail in trial.findings:
        rules = [f"{rule} ({count})" for rule, count in _RULES.findall(detail.split("}")[0])]
        texts.append(f"{what}: {', '.join(rules)}" if rules else what)
    return "; ".join(texts)


def _kept(trial: Trial, seed: int) -> KeptTrial:
    if trial.broken:
        return KeptTrial(trial.experiment, seed, "no verdict", trial.broken.splitlines()[-1])
    verdict = "caught" if trial.is_caught else "not caught"
    return KeptTrial(trial.experiment, seed, verdict, summary_of(trial))


def mutant_table(trials: Mapping[str, KeptTrial]) -> str:
    lines = ["| mutant | what it does wrong | caught by |", "|---|---|---|"]
    for mutant in MUTANTS:
        trial = trials.get(mutant.name)
        lines.append(f"| {mutant.name} | {mutant.fault} | {_shown(trial)} |")
    return "\n".join(lines)


def _shown(trial: KeptTrial | None) -> str:
    if not trial:
        return "not tried"
    if trial.verdict != "caught":
        return f"**{trial.verdict}** ({trial.experiment})"
    return f"{trial.experiment}: {_in_short(trial.by)}"


def _in_short(by: str) -> str:
    experiments = [finding.partition(":")[0] for finding in by.split("; ")]
    return ", ".join(dict.fromkeys(_SHORT.get(name, name) for name in experiments))
