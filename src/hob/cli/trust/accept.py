"""`hob accept`: accept identity files."""

from hob.app.home import make_home
from hob.app.settings.sections import read_config
from hob.app.trust.audit import audit_action
from hob.app.trust.identity_files import find_files
from hob.cli.output import line, paint, print_json
from hob.cli.translating import _
from hob.core.errors import HobError, NotFound
from hob.core.translation.language import translatable
from hob.workspace.settings import WorkspaceSettings

_NOT = (translatable("not accepted: given to the model as untrusted text"), "yellow")


def accept(file: str = "", /, *, all: bool = False, json: bool = False) -> None:  # noqa: A002 - the option's name
    """Accept identity files as they are now; without a name, show which are accepted.

    Parameters
    ----------
    file:
        The file, e.g. SOUL.md. Read it first: Hob follows what it says.
    all:
        Accept all of them.
    json:
        Print JSON.
    """
    config = read_config()
    make_home(config.home)
    folder = config[WorkspaceSettings].path.expanduser()
    files, accepted = find_files(config.home, folder, warns=False)
    there = {each.name: each for each in files.load()}
    if file and file not in there:
        raise NotFound(
            translatable(
                "{file} is not an identity file in {folder}; there are: {names}",
                file=line(file),
                folder=folder,
                names=", ".join(there) or translatable("none"),
            )
        )
    if file and (problem := there[file].problem):
        raise HobError(
            translatable("{file} {problem}; what is not read whole cannot be accepted", file=file, problem=problem)
        )
    if chosen := [each for each in there.values() if (all or each.name == file) and not each.problem]:
        accepted.accept({each.name: each.hash for each in chosen})
        audit_action(config.home, "accept", ", ".join(f"{each.name} {each.hash}" for each in chosen))
    states = {each.name: each.label.trusted for each in files.load()}
    if json:
        print_json({"folder": str(folder), "files": [{"name": n, "accepted": yes} for n, yes in states.items()]})
        return
    for name, yes in states.items():
        print(f"{name:14} {paint(*((_('accepted'), 'green') if yes else _NOT))}")
    if not states:
        print(_("There are no identity files in {folder}.", folder=folder))
