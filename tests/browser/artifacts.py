"""Where the logs and pictures of browser tests are kept."""

from pathlib import Path

ARTIFACTS = Path(__file__).resolve().parents[2] / ".artifacts"
SHOTS = ARTIFACTS / "screenshots"
