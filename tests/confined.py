"""Which sandbox a test asks for that is not about sandboxes: whether commands can be confined here changes nothing."""

import shutil

BACKEND = "plain" if shutil.which("bwrap") is None else "auto"
"""Without bubblewrap commands run as they are, which every test of approvals asks its owner for anyway."""
