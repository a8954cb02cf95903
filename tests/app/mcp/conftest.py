"""Skip these tests without the extra, or without bubblewrap, in which the servers run."""

import shutil
from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("mcp") and shutil.which("bwrap") else ["test_*.py"]
