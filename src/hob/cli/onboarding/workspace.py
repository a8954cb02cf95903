"""The workspace: identity files, the owner's name, accepted files, and the work folder."""

from pathlib import Path

from hob.app.settings.sections import read_config
from hob.app.trust.audit import audit_action
from hob.app.trust.identity_files import find_files, open_files
from hob.cli.onboarding.report import SetupOptions, SetupOutcome, SetupPrompts, StepStatus, confirm
from hob.config.whole_file import write_whole
from hob.core.ids import digest
from hob.core.translation.language import translatable
from hob.workspace.owner import find_owner_name, set_owner_name
from hob.workspace.seeding import make_work_repository
from hob.workspace.settings import WorkspaceSettings

_USER = "USER.md"


def settle_folders(home: Path) -> SetupOutcome:
    """Create and seed what is missing."""
    settings = read_config()[WorkspaceSettings]
    folder, work = settings.path.expanduser(), settings.work.expanduser()
    new = not folder.exists()
    had_repository = (work / ".git").exists()
    try:
        files = open_files(home, settings, may_seed=True)
        make_work_repository(work)
    except OSError as error:
        path = str(error.filename or work)
        told = translatable("{path} cannot be made: {reason}", path=path, reason=str(error.strerror))
        return SetupOutcome("workspace", StepStatus.FAILED, told, "hob config set workspace.path FOLDER")
    names = len(files.load())
    files_there = translatable("{count} identity files", count=str(names)) if names != 1 else "1 identity file"
    told = translatable(
        "{folder} with {files}; tools work in {work}", folder=_short(folder), files=files_there, work=_short(work)
    )
    return SetupOutcome("workspace", StepStatus.DONE if new or not had_repository else StepStatus.KEPT, told)


def settle_name(home: Path, options: SetupOptions, prompts: SetupPrompts | None) -> SetupOutcome:
    """Write the owner's name into USER.md."""
    folder = read_config()[WorkspaceSettings].path.expanduser()
    path = folder / _USER
    files, accepted = find_files(home, folder)
    file = next((file for file in files.load() if file.name == _USER), None)
    now = find_owner_name(file.text) if file is not None else ""
    name = options.name
    if name is None and prompts is not None:
        name = _ask_name(prompts, now)
    if not name or name.strip() == now:
        return SetupOutcome("name", StepStatus.KEPT if now else StepStatus.SKIPPED, now or "no name")
    try:
        text = set_owner_name(file.text if file is not None else "# About the owner\n", name)
    except ValueError as error:
        return SetupOutcome("name", StepStatus.FAILED, str(error), "hob onboard --name NAME")
    # an interrupted write leaves the old text with the new hash; the next run repairs that
    trusted = file is None or file.label.trusted or accepted.accepts(_USER, digest(text))
    if not trusted or path.is_symlink() or (file is not None and file.problem):
        told = translatable("{path} is left as it is: it was changed and not accepted, or is a link", path=str(path))
        advice = translatable("write `- Name: {name}` into it, then: hob accept {file}", name=name, file=_USER)
        return SetupOutcome("name", StepStatus.FAILED, told, advice)
    try:
        accepted.accept({_USER: digest(text)})
        write_whole(path, text.encode(), path.stat().st_mode & 0o777 if path.exists() else 0o600)
    except OSError as error:
        told = translatable("{path} cannot be written: {reason}", path=str(path), reason=str(error.strerror))
        return SetupOutcome("name", StepStatus.FAILED, told, "hob onboard --name NAME")
    audit_action(home, "accept", f"{_USER} {digest(text)}")
    return SetupOutcome(
        "name", StepStatus.DONE, translatable("{name}, in {file}", name=name.strip(), file=_short(path))
    )


def settle_identity(home: Path, options: SetupOptions, prompts: SetupPrompts | None) -> SetupOutcome:
    """Accept changed identity files if the owner agrees."""
    folder = read_config()[WorkspaceSettings].path.expanduser()
    files, accepted = find_files(home, folder)
    changed = [file for file in files.load() if not file.label.trusted]
    if not changed:
        return SetupOutcome("identity", StepStatus.KEPT, "all identity files are accepted")
    names = ", ".join(file.name for file in changed)
    advice = "read it, then: hob accept --all" if len(changed) == 1 else "read them, then: hob accept --all"
    if prompts is not None and not options.accept:
        told = "Changed since you accepted them, and therefore not trusted: {names} in {folder}"
        prompts.show(translatable(told, names=names, folder=str(folder)), "yellow")
    if not (
        options.accept or (prompts is not None and confirm(prompts, "Have you read them? Accept them?", default=False))
    ):
        return SetupOutcome("identity", StepStatus.SKIPPED, translatable("not accepted: {names}", names=names), advice)
    whole = {file.name: file.hash for file in changed if not file.problem}
    try:
        accepted.accept(whole)
    except OSError as error:
        told = translatable("cannot be written down: {reason}", reason=str(error.strerror))
        return SetupOutcome("identity", StepStatus.FAILED, told, advice)
    audit_action(home, "accept", ", ".join(f"{name} {hash_}" for name, hash_ in whole.items()))
    if left := [file.name for file in changed if file.problem]:
        told = translatable("cannot be accepted since not all of it is read: {names}", names=", ".join(left))
        return SetupOutcome("identity", StepStatus.FAILED, told, "hob accept")
    return SetupOutcome("identity", StepStatus.DONE, translatable("accepted: {names}", names=names))


def _ask_name(prompts: SetupPrompts, now: str) -> str:
    while True:
        name = prompts.read("What may Hob call you?" if now else "What may Hob call you? (Enter for no name)", now)
        try:
            return name if not name or set_owner_name("", name) else ""
        except ValueError as error:
            prompts.show(translatable("✗ {trouble}", trouble=str(error)), "red")


def _short(path: Path) -> str:
    """Return the path with `~` for the home folder."""
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)
