"""OpenClaw: https://docs.openclaw.ai. Its folder is `~/.openclaw`; earlier releases had other names for it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from hob.app.imports.contents import Assistant, Contents, SkippedItem, SourceFile, SourceFolder
from hob.app.imports.folders import WorkspaceLayout, find_named_folder, read_config, take_folder, take_workspace
from hob.app.imports.openclaw.sessions import conversations_of
from hob.app.imports.openclaw.settings import read_settings
from hob.app.imports.source_files import Object, Unreadable, inner, object_at
from hob.core.translation.language import translatable

_CONFIGS = ("openclaw.json", "moltbot.json", "clawdbot.json")
_FOLDERS = (".openclaw", ".moltbot", ".clawdbot")
_MARKS = ("AGENTS.md", "SOUL.md", "IDENTITY.md")
_AGENT = re.compile(r"[A-Za-z0-9_-]+")
_LAYOUT = WorkspaceLayout(
    files={
        "AGENTS.md": "AGENTS.md",
        "SOUL.md": "SOUL.md",
        "USER.md": "USER.md",
        "TOOLS.md": "TOOLS.md",
        "IDENTITY.md": "IDENTITY.md",
        "MEMORY.md": "MEMORY.md",
        "memory.md": "MEMORY.md",
        "HEARTBEAT.md": "HEARTBEAT.md",
    },
    folders={"memory": "memory", "skills": "skills"},
    not_taken={
        "BOOTSTRAP.md": "it is OpenClaw's first talk with its owner; `hob onboard` is Hob's",
        "BOOT.md": "it is what OpenClaw does when it starts; Hob does nothing by itself then",
    },
)
_PARTS: Mapping[str, str] = {
    "cron": "Hob has no scheduled jobs yet",
    "credentials": "logins of channels: Hob makes its own",
    "devices": "paired devices: Hob has no such part",
    "hooks": "programs of OpenClaw; Hob does not run them",
    "extensions": "programs of OpenClaw; Hob does not run them",
    "plugins": "programs of OpenClaw; Hob does not run them",
    "identity": "keys of OpenClaw's own",
    "media": "files of conversations; only texts are taken",
    "state": "OpenClaw's own state",
}


def _places(environ: Mapping[str, str], home: Path) -> Sequence[Path]:
    named = [Path(environ["OPENCLAW_STATE_DIR"])] if environ.get("OPENCLAW_STATE_DIR") else []
    return (*named, *(Path(environ.get("OPENCLAW_HOME") or home) / name for name in _FOLDERS))


def _knows(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _CONFIGS) or (folder / "agents").is_dir() or _is_workspace(folder)


def _is_workspace(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _MARKS)


def _read(source: SourceFolder) -> Contents:
    root = source.root
    if not _knows(root):
        raise Unreadable(
            translatable(
                "{root} is not an OpenClaw folder: there is neither openclaw.json nor agents/ nor AGENTS.md",
                root=str(root),
            )
        )
    left: list[SkippedItem] = []
    config = _config(source, left)
    workspace, told = _workspace(source, config)
    left += told
    files: list[SourceFile] = []
    if workspace is not None:
        files, told = take_workspace(workspace, _LAYOUT)
        left += told
    if (root / "skills").is_dir() and workspace != root and not (root / "skills").is_symlink():
        take_folder(root / "skills", PurePosixPath("skills"), files, left)
    conversations, told = conversations_of(source)
    left += told
    mapping = read_settings(config, source, root / "agents" / _default_agent(config)[0])
    left += [
        SkippedItem(str(root / name), why)
        for name, why in _PARTS.items()
        if (root / name).exists() and workspace != root
    ]
    return Contents(tuple(files), tuple(conversations), mapping.settings, mapping.keys, (*left, *mapping.left))


def _config(source: SourceFolder, left: list[SkippedItem]) -> Object:
    paths = [source.root / name for name in _CONFIGS]
    path = next((each for each in paths if each.exists()), paths[0])
    config = read_config(path, source.root, left)
    if "$include" in config:
        left.append(SkippedItem(f"{path}: $include", translatable("further files are not read")))
    return config


def _agents(config: Object) -> list[tuple[str, Object]]:
    """Return the agents in the configuration, each with its settings."""
    listed = inner(config, "agents", "list")
    named = object_at(config, "agents", "entries").items()
    pairs = [(inner(each, "id"), each) for each in (listed if isinstance(listed, list) else ())] + list(named)
    return [(id, each) for id, each in pairs if isinstance(id, str) and _AGENT.fullmatch(id) and object_at(each)]


def _default_agent(config: Object) -> tuple[str, Object]:
    return next((pair for pair in _agents(config) if pair[1].get("default") is True), ("main", {}))


def _workspace(source: SourceFolder, config: Object) -> tuple[Path | None, list[SkippedItem]]:
    """Return the default agent's workspace, inside this folder unless it is the owner's own, and the skipped items."""
    root = source.root
    if _is_workspace(root):
        return root, []
    own, settings = _default_agent(config)
    left = _other_workspaces(root, config, own)
    written = settings.get("workspace") or object_at(config, "agents", "defaults").get("workspace")
    if (found := find_named_folder(written or inner(config, "agent", "workspace"))) is not None:
        if source.owners or found.is_relative_to(root):
            return found, left
        if not (root / "workspace").is_dir():
            told = "it lies outside of the folder; `hob import openclaw` with that folder as PATH takes it"
            return None, [*left, SkippedItem(f"the workspace {found}", told)]
    if (root / "workspace").is_dir() and not (root / "workspace").is_symlink():
        return root / "workspace", left
    return None, [*left, SkippedItem("the workspace", translatable("there is none in this folder"))]


def _other_workspaces(root: Path, config: Object, own: str) -> list[SkippedItem]:
    """Return other agents' workspaces as skipped: the configured ones, else the folders `workspace-AGENT`."""
    others = {id: each.get("workspace") for id, each in _agents(config) if id != own}
    usual = {path.name.partition("-")[2]: path for path in sorted(root.glob("workspace-*")) if path.is_dir()}
    places = {**usual, **{id: written for id, written in others.items() if isinstance(written, str) and written}}
    why = "Hob has one workspace; `hob import openclaw` with that folder as PATH takes it"
    return [SkippedItem(f"the workspace of the agent {id}: {place}", why) for id, place in places.items()]


ASSISTANT = Assistant("openclaw", "OpenClaw", _places, _knows, _read)
