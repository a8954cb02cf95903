"""`hob import openclaw --yes`, with a moment at which a process is killed: `importer.py MESSAGES [PID]`.

After so many messages, and without a PID it is this process.
"""

import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

from hob.app.imports.assistants import find_assistant
from hob.app.imports.run import carry_out, make_plan
from hob.config.environment import find_home


def main(messages: str, pid: str = "") -> None:
    def progress(_: int, __: int, read: int) -> None:
        if read >= int(messages) and not killed:
            killed.append(True)
            os.kill(int(pid) if pid else os.getpid(), signal.SIGKILL)

    killed: list[bool] = []
    with ExitStack() as stack:
        plan = make_plan(find_assistant("openclaw"), Path("~/.openclaw"), os.environ, Path.home(), stack)
        carry_out(plan, find_home(os.environ), progress)


if __name__ == "__main__":
    main(*sys.argv[1:])
