"""Coverage of faults: which failpoints, race branches and fallbacks a run has reached."""
