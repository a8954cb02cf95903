"""Review of identity files that changed since the owner accepted them."""

from pathlib import Path

from hob.app.trust.identity_files import find_files
from hob.core.content.files import BootstrapFile
from hob.core.errors import InvalidRequest, NotFound
from hob.core.translation.language import translatable
from hob.gateway.administration import IdentityFileAnswer, IdentityFilesAnswer
from hob.tools.editing.diffs import diff, is_complete
from hob.workspace.acceptance import AcceptedFiles, write_private


def compare_files(home: Path, workspace: Path) -> IdentityFilesAnswer:
    """Return the identity files, each with its changes since acceptance. Reads the disk."""
    root = workspace.expanduser()
    files, accepted = find_files(home, root, warns=False)
    return {"folder": str(root), "files": [_file_view(root, each, accepted) for each in files.load()]}


def settle_file(home: Path, workspace: Path, name: str, hash_: str, *, accept: bool) -> None:
    """Accept a file as it was shown, or restore the last accepted version. Raises NotFound, InvalidRequest, OSError."""
    root = workspace.expanduser()
    files, accepted = find_files(home, root, warns=False)
    found = next((each for each in files.load() if each.name == name), None)
    if found is None:
        raise NotFound(translatable("there is no identity file {name}", name=name))
    if found.hash != hash_:
        raise InvalidRequest(translatable("{name} was changed once more; look at it again", name=name))
    if not accept:
        if (before := accepted.kept(name)) is None:
            raise InvalidRequest(translatable("what was accepted of {name} before is not kept", name=name))
        write_private(root / name, before)
    elif problem := _file_view(root, found, accepted)["problem"]:
        raise InvalidRequest(translatable("{file} {problem}; what is not read whole cannot be accepted", file=name,
                                          problem=problem))  # fmt: skip
    else:
        accepted.accept({name: hash_})
        files.load()  # keeps the accepted text


def _file_view(root: Path, file: BootstrapFile, accepted: AcceptedFiles) -> IdentityFileAnswer:
    before, problem, change = accepted.kept(file.name), file.problem, ""
    if not file.label.trusted and not problem:
        after = (root / file.name).read_bytes()
        if is_complete(before, after):
            change = diff(before, after, file.name)
        else:
            problem = translatable("cannot be shown here (`hob accept` accepts it)")
    return {
        "name": file.name,
        "hash": file.hash,
        "accepted": file.label.trusted,
        "problem": problem,
        "diff": change,
        "kept": before is not None,
    }
