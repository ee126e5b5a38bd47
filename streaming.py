"""`python -m streaming` of the releases before 0.2: it says the new name."""

import sys

sys.exit("python -m streaming is now: python -m web.streaming")
