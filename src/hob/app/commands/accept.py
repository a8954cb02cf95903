"""`hob accept`."""

from typing import Annotated

from cyclopts import Parameter

from hob.app.commands.output import line, paint, print_json
from hob.app.home import make_home
from hob.app.identity import find_files
from hob.app.sections import read_config
from hob.core.errors import InvalidRequest, NotFound
from hob.workspace import WorkspaceSettings

_NOT = ("not accepted: given to the model as untrusted text", "yellow")


def accept(
    *names: str,
    everything: Annotated[bool, Parameter(name="--all", negative=())] = False,
    json: bool = False,
) -> int:
    """Let identity files be obeyed as they stand now; without a name, show which are.

    Parameters
    ----------
    names:
        The files, e.g. SOUL.md. Read them first: what is in them, Hob does.
    everything:
        All of them.
    json:
        Print JSON.
    """
    config = read_config()
    make_home(config.home)
    folder = config[WorkspaceSettings].path.expanduser()
    files, accepted = find_files(config.home, folder)
    there = {file.name: file for file in files.load()}
    if missing := [name for name in names if name not in there]:
        known = ", ".join(there) or "none"
        raise NotFound(f"{line(missing[0])} is no identity file in {folder}; there are: {known}")
    chosen = list(there) if everything else list(dict.fromkeys(names))
    if problems := [f"{name} {there[name].problem}" for name in names if there[name].problem]:
        raise InvalidRequest(f"{problems[0]}; what is not read whole cannot be accepted")
    if chosen:
        accepted.accept({name: there[name].hash for name in chosen if not there[name].problem})
    states = {file.name: file.label.trusted for file in files.load()}
    if json:
        print_json({"folder": str(folder), "files": [{"name": n, "accepted": yes} for n, yes in states.items()]})
        return 0
    for name, yes in states.items():
        print(f"{name:14} {paint(*(('accepted', 'green') if yes else _NOT))}")
    if not states:
        print(f"There are no identity files in {folder}.")
    return 0
