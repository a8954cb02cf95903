"""Skip these tests without the extra."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("mcp") else ["test_*.py"]
