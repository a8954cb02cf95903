"""`hob upgrade`: how to upgrade this installation."""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from cyclopts import Parameter

from hob import __version__
from hob.app.diagnostics.context import CheckSkipped, DiagnosticContext
from hob.app.service.steps import run_program
from hob.cli.output import paint, print_json
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment
from hob.core.libraries import install_command
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.database.disk import stamp

# Finds how Hob was installed and what changed. Makes no network request.

CHANGELOG = "CHANGELOG.md"
IMAGE_MARK = "hob-image"
"""A file beside the libraries that marks a container image."""
_MADE_BY = {
    "uv-receipt.toml": translatable("a tool of uv"),
    "pipx_metadata.json": translatable("an application of pipx"),
}
_SAME_WAY = translatable("install the newer one from where you had this one")

_NOT_OURS = translatable(
    "Name where it comes from (a checkout, a wheel): what package indexes call hob is another program."
)
_SECTION = re.compile(r"^## \[?([^\]\s]+)\]?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation: its kind in words, the commands that upgrade it, and the commands that go back."""

    kind: str
    upgrade: tuple[str, ...]
    back: str
    checkout: Path | None = None
    note: str = ""


def find_installation(
    prefix: Path,
    python: str,
    version: str,
    origin: Mapping[str, Any],
    revision_of: Callable[[Path], str] = lambda _checkout: "",
) -> Installation:
    """Find how this environment's Hob was installed; `prefix` is the environment's folder.

    `origin` is the installer's record (https://packaging.python.org/en/latest/specifications/direct-url/).
    `revision_of` returns a checkout's revision.
    """
    url = str(origin.get("url", ""))
    if (prefix / IMAGE_MARK).exists():
        again = ("docker compose build --pull", "docker compose up --detach")
        former, note = translatable("build the former image"), translatable("Run these in the folder of compose.yaml.")
        return Installation(translatable("a container"), again, former, note=note)
    same = translatable("the same with version {version}", version=version)
    if url.startswith("file:") and (checkout := Path(unquote(urlsplit(url).path))).is_dir():
        editable = bool(origin.get("dir_info", {}).get("editable"))
        return _of_checkout(checkout, prefix, python, revision_of(checkout), editable=editable)
    if any(part.startswith("archive-v") for part in prefix.parts):
        note = translatable("It is in a cache that is emptied at times, so it cannot be a service.")
        return Installation(translatable("a temporary run of uvx"), (_SAME_WAY,), same, note=note)
    pip = install_command(python=python)
    if control := origin.get("vcs_info"):
        package = f"hob @ {control['vcs']}+{url}"
        back = shlex.quote(f"{package}@{control.get('commit_id', '')}")
        upgrade = f"{pip} --force-reinstall {shlex.quote(package)}"
        source = translatable("a package from {url}", url=url)
        return Installation(source, (upgrade,), f"{pip} --force-reinstall {back}")
    kind = next((kind for mark, kind in _MADE_BY.items() if (prefix / mark).exists()), translatable("a package"))
    return Installation(kind, (_SAME_WAY,), same, note=_NOT_OURS)


def _of_checkout(checkout: Path, prefix: Path, python: str, revision: str, *, editable: bool) -> Installation:
    place = shlex.quote(str(checkout))
    if editable and (checkout / "Makefile").exists() and prefix == checkout / ".venv":
        renew = f"make -C {place} .venv/ready"
    else:
        renew = f"{install_command(python=python)} {'--editable' if editable else '--upgrade'} {place}"
    pull = (f"git -C {place} pull",) if (checkout / ".git").exists() else ()
    back = translatable(
        "git -C {place} checkout {revision}, then {renew}", place=place, revision=revision or "REVISION", renew=renew
    )
    return Installation(translatable("a checkout in {folder}", folder=checkout), (*pull, renew), back, checkout)


def _read_origin() -> dict[str, Any]:
    """Return the installer's record of the source."""
    try:
        text = metadata.distribution("hob").read_text("direct_url.json")
        value = json.loads(text) if text else {}
    except (metadata.PackageNotFoundError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def load_changelog(installation: Installation) -> str:
    """Return the text of the packaged changelog; empty if there is none."""
    packed = resources.files("hob") / CHANGELOG
    places = (packed, *((installation.checkout / CHANGELOG,) if installation.checkout else ()))
    return next((place.read_text("utf-8") for place in places if place.is_file()), "")


def changes_since(changelog: str, version: str) -> list[str]:
    """Return the changes after this version; of the newest version alone if this one is unknown."""
    sections = list(_sections(changelog))
    names = [name for name, _ in sections]
    newest = names.index(version) if version in names else 1
    return [item for _, text in sections[: max(1, newest)] for item in _items(text)]


def _sections(changelog: str) -> Iterator[tuple[str, str]]:
    found = list(_SECTION.finditer(changelog))
    for number, section in enumerate(found, 1):
        end = found[number].start() if number < len(found) else len(changelog)
        yield section[1], changelog[section.end() : end]


def _items(text: str) -> Iterator[str]:
    for item in re.split(r"^- ", text, flags=re.MULTILINE)[1:]:
        yield " ".join(re.split(r"\n\s*\n|^#", item, maxsplit=1, flags=re.MULTILINE)[0].split())


def this_installation(version: str, environ: Mapping[str, str]) -> Installation:
    """Return how the running Hob was installed."""

    def revision_of(checkout: Path) -> str:
        return run_program(environ, "git", "-C", str(checkout), "rev-parse", "--short", "HEAD").out.strip()

    return find_installation(Path(sys.prefix), sys.executable, version, _read_origin(), revision_of)


_SHOWN = 12


def upgrade(
    *,
    all: Annotated[bool, Parameter(help="Show every change.", negative="")] = False,  # noqa: A002 - the option's name
    json: Annotated[bool, Parameter(help="Print JSON.", negative="")] = False,
) -> None:
    """Show how to upgrade this Hob, and what changed since the version that ran here before. Changes nothing, asks no
    server.
    """
    environ = process_environment()
    diagnostics = DiagnosticContext(find_home(environ), environ)
    installation = this_installation(__version__, environ)

    backup = diagnostics.home / "backups" / f"mine-{stamp(diagnostics.clock.now())}.db"
    before = _previous_version(diagnostics)
    steps = _steps(diagnostics, installation, str(backup), kept=bool(before))
    changes = changes_since(load_changelog(installation), before)
    if json:
        print_json(
            {"version": __version__, "before": before, "kind": installation.kind, "steps": steps}
            | {"back": installation.back, "changes": changes}
        )
        return
    print(
        _(
            "Hob {version} is {kind}. There is no update check: you decide when. To upgrade:",
            version=__version__,
            kind=_(installation.kind),
        ),
        end="\n\n",
    )
    for number, step in enumerate(steps, 1):
        print(f"  {number}. {paint(_(step), 'bold')}")
    if installation.note:
        print(f"\n{_(installation.note)}")
    told = "To go back: {commands}."
    if before:
        told = "To go back: {commands}; `hob restore {backup}`, since an older Hob refuses a newer one's database."
    print("\n" + _(told, commands=_(installation.back), backup=shlex.quote(str(backup))))
    _show_changes(changes, before, everything=all)


def _previous_version(diagnostics: DiagnosticContext) -> str:
    """Return the version that last ran in this home; empty if unknown."""
    try:
        return diagnostics.examined.last
    except CheckSkipped:
        return ""


def _steps(diagnostics: DiagnosticContext, installation: Installation, backup: str, *, kept: bool) -> list[str]:
    steps = [f"hob backup {shlex.quote(backup)}"] if kept else []
    steps += installation.upgrade
    if diagnostics.service_manager.file.exists() and diagnostics.service_manager.home() == str(diagnostics.home):
        steps.append("hob service restart")
    elif diagnostics.owner is not None and diagnostics.owner.daemon:
        steps.append(translatable("stop `hob serve` (Ctrl-C or SIGTERM) and start it again"))
    return [*steps, "hob doctor"]


def _show_changes(changes: list[str], before: str, *, everything: bool) -> None:
    if not changes:
        print(f"\n{_('The changes are in CHANGELOG.md, which is not part of this installation.')}")
        return
    since = _("New since Hob {version}, which ran here last:", version=before)
    print(f"\n{since if before not in ('', __version__) else _('New in this version:')}")
    shown = changes if everything else changes[:_SHOWN]
    for change in shown:
        print(f"  - {change}")
    if len(shown) < len(changes):
        told = _("  … {count} more: `hob upgrade --all`", count=len(changes) - len(shown))
        print(paint(told, "dim"))
