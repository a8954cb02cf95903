"""Running `hob import`: plan, then carry out. Each item is done completely or not at all, so imports can resume."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from hob.app.home import make_home
from hob.app.imports.contents import Assistant, SkippedItem, SourceFolder
from hob.app.imports.conversations import Progress, import_conversations, plan_conversations
from hob.app.imports.files import plan_files, put_file
from hob.app.imports.plan import OPEN, ImportPlan, Item, ItemKind, ItemStatus
from hob.app.imports.settings import plan_settings, put_setting
from hob.app.imports.source_files import Unreadable
from hob.app.settings.sections import read_config
from hob.app.trust.audit import audit_action
from hob.app.trust.identity_files import open_files
from hob.core.clock import SystemClock
from hob.core.errors import NotFound
from hob.core.translation.language import translatable
from hob.store.database.disk import stamp
from hob.workspace.settings import WorkspaceSettings


def make_plan(
    assistant: Assistant,
    folder: Path,
    environ: Mapping[str, str],
    home: Path,
    stack: ExitStack,
    *,
    mine: bool = False,
) -> ImportPlan:
    """Plan the import of this folder. Changes nothing. Raises NotFound, ConfigInvalid.

    Resources that must stay open until the conversations are read are put on the stack. `home` is the user's. With
    `mine` the folder counts as the user's own wherever it is.
    """
    config = read_config()
    try:
        root = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise NotFound(translatable("there is no folder {folder}", folder=folder)) from error
    if not root.is_dir():
        raise NotFound(translatable("{folder} is not a folder; unpack it first if it is an archive", folder=folder))
    owners = mine or root in {place.resolve() for place in assistant.places(environ, home)}
    try:
        found = assistant.read(SourceFolder(root, owners, environ, stack))
    except Unreadable as error:
        raise NotFound(str(error)) from error
    workspace = config[WorkspaceSettings].path.expanduser()
    items = (
        *plan_files(found.files, workspace),
        *plan_settings((*found.keys, *found.settings), config),
        *plan_conversations(found.conversations),
        *(_skipped_item(each) for each in found.left),
    )
    return ImportPlan(assistant.id, assistant.title, str(root), items)


def _skipped_item(each: SkippedItem) -> Item:
    return Item(ItemKind.OTHER, each.what, "", ItemStatus.NOT_TAKEN, each.why)


def count_new(plan: ImportPlan, home: Path, progress: Progress) -> ImportPlan:
    """Return the plan with the number of new messages, by reading every conversation; nothing is stored."""
    return _with_conversations(plan, home, progress, preview=True)


def carry_out(plan: ImportPlan, home: Path, progress: Progress) -> ImportPlan:
    """Carry out a plan, conversations first: if another process holds the home, nothing is done at all.

    Replaced templates are kept in `backups`. Raises NotConfigured, HomeInUse, ConnectionLost, StoreErrors.
    """
    make_home(home)
    plan = _with_conversations(plan, home, progress, preview=False)
    config = read_config()
    settings = config[WorkspaceSettings]
    open_files(home, settings, may_seed=True)  # acceptance is decided before anything is written there
    workspace, aside = settings.path.expanduser(), home / "backups" / f"workspace-{stamp(SystemClock().now())}"
    items: list[Item] = []
    for item in plan.items:
        done = item
        if item.status in OPEN and item.kind is ItemKind.FILE:
            done = put_file(item, workspace, aside)
        elif item.status in OPEN and item.kind in (ItemKind.SETTING, ItemKind.SECRET):
            done = put_setting(item, config)
        items.append(done)
    if any(item.status is ItemStatus.DONE for item in items):
        audit_action(home, "import", f"{plan.assistant}: {plan.folder}")
    return replace(plan, items=items)


def _with_conversations(plan: ImportPlan, home: Path, progress: Progress, *, preview: bool) -> ImportPlan:
    """Import the open conversations. Return the plan with their outcomes."""
    open_items = [item for item in plan.of(ItemKind.CONVERSATION) if item.status in OPEN]
    rest = iter(import_conversations(home, open_items, progress, preview=preview))
    items = [next(rest) if each.kind is ItemKind.CONVERSATION and each.status in OPEN else each for each in plan.items]
    return replace(plan, items=items)
