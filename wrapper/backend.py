"""scikit-build-core, after a look at whether the core library's sources are there."""

import pathlib
import sys

from scikit_build_core.build import *  # noqa: F401,F403 - the hooks that pip calls

if not (pathlib.Path(__file__).parent.parent / "include" / "evallib" / "eval.h").is_file():
    sys.exit(
        "evallib is built inside its repository, where the sources of the core library lie one "
        "folder up: `pip install ./wrapper`. An archive of wrapper/ alone does not hold them."
    )
