"""Skip these tests without the extra; those whose servers run in the sandbox also without bubblewrap."""

import shutil
from importlib.util import find_spec

_SANDBOXED = ["test_servers.py", "test_extensions.py", "test_questions.py", "test_npm_servers.py"]
collect_ignore_glob = ["test_*.py"] if not find_spec("mcp") else [] if shutil.which("bwrap") else _SANDBOXED
