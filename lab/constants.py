"""Django's settings of a run with other constants than the product's, which CONSTANTS has as JSON.

`lab.runner.programs.other_constants` is the environment for it.
"""

import json
import os

from config.settings import *  # noqa: F403

globals().update(json.loads(os.environ["CONSTANTS"]))
