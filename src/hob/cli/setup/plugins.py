"""`hob plugins`: list, enable and disable plug-ins."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.home import make_home
from hob.app.plugins.installed import OPENED, Installed, installed
from hob.app.plugins.loading import load_plugin, manifest_of
from hob.app.plugins.manifest import Manifest, read_manifests, write_manifest
from hob.cli.output import confirm, line, paint, print_table, printed_json
from hob.cli.table import COMMANDS
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment
from hob.core.errors import InvalidRequest, NotConfigured, NotFound
from hob.core.translation.language import translatable

app = App(name="plugins", help="List plug-ins, and switch them on and off.", result_action="return_value")

_PROVIDER, _ASSISTANT = "provider", "assistant"

Name = Annotated[str, Parameter(help="The plug-in.")]
Json = Annotated[bool, Parameter(help="Print JSON.")]


@app.default
@app.command(name="list")
def list_(*, json: Json = False) -> int:
    """List plug-ins: what each adds, and whether it is on. Loads none of them."""
    manifests, found = read_manifests(find_home(process_environment())), installed()
    views = [_view(name, manifests.get(name), found.get(name)) for name in sorted({*manifests, *found})]
    if printed_json({"plugins": views}, json):
        return 0
    print_table(
        (_("name"), _("version"), _("state"), _("what it adds")),
        [
            (
                (line(view["name"], 40), "bold"),
                view["version"],
                _(view["state"]),
                ", ".join(map(_, view["brings"])) + _trouble(view),
            )
            for view in views
        ],
        _("No plug-ins are installed; `pip install PACKAGE` in Hob's environment installs one."),
    )
    return 0


def _trouble(view: Mapping[str, Any]) -> str:
    return "\n" + paint(f"  {line(_(view['problem']), 300)}", "red") if view["problem"] else ""


@app.command
def enable(
    name: Name,
    *,
    yes: Annotated[bool, Parameter(negative="", help="Do not ask.")] = False,
) -> int:
    """Enable a plug-in from the next start on, after asking: it runs with your rights.

    It is loaded once, to show what it adds.
    """
    home, found = find_home(process_environment()), installed()
    if name not in found:
        raise NotFound(
            translatable(
                "no installed package brings a plug-in {name}; `hob plugins list` shows what there is", name=line(name)
            )
        )
    plugin = found[name]
    if not any(group in OPENED for group in plugin.points) and _ASSISTANT not in plugin.kinds:
        raise InvalidRequest(
            translatable("{name} is a provider of models and always on: `hob models set {name}` asks it", name=name)
        )
    print(
        _(
            "{name} {version}, of the package {package}, runs with your rights: it can read, change and send "
            "everything that you can, and Hob's policy does not limit it.",
            name=name,
            version=plugin.version,
            package=", ".join(plugin.packages),
        )
    )
    if not yes and not confirm(_("Load and enable it?")):
        return 1
    manifest = manifest_of(plugin, load_plugin(plugin))
    before = read_manifests(home)
    if clashes := list(_clashes(manifest, before)):
        raise NotConfigured(
            translatable("{name} cannot be enabled: {problems}", name=name, problems="; ".join(clashes))
        )
    known = before[name].declares if name in before else ()
    for each in manifest.declares:
        print(f"  {_(each)}{_(' (new)') if known and each not in known else ''}")
    make_home(home)
    write_manifest(home, manifest)
    print(_("{name} is on from Hob's next start; `hob plugins disable {name}` switches it off.", name=name))
    return 0


@app.command
def disable(name: Name) -> int:
    """Disable a plug-in from the next start on. Its settings stay."""
    home = find_home(process_environment())
    manifest = read_manifests(home).get(name)
    if manifest is None:
        raise NotFound(
            translatable("no plug-in {name} was enabled; `hob plugins list` shows what there is", name=line(name))
        )
    write_manifest(home, replace(manifest, on=False))
    print(_("{name} is off from Hob's next start; its settings are kept.", name=name))
    return 0


def add_command(app: App, plugin: str, name: str) -> None:
    """Add a plug-in's command to Hob's own. Raises NotConfigured if the plug-in cannot be loaded."""
    found = installed()
    if plugin not in found:
        raise NotConfigured(
            translatable(
                "`hob {name}` is of the plug-in {plugin}, which is not installed any more", name=name, plugin=plugin
            )
        )
    for command in load_plugin(found[plugin]).cli:
        if command.name == name:
            app.command(command.run(), name=name, help=command.help)


def _clashes(manifest: Manifest, others: Mapping[str, Manifest]) -> Iterator[str]:
    own = {name for name, _text in COMMANDS}
    yield from (_("`hob {name}` is Hob's own", name=name) for name in manifest.commands if name in own)
    for other in others.values():
        if other.on and other.name != manifest.name:
            both = [each for each in manifest.declares if each in other.declares and " " in each and _one_only(each)]
            yield from (_("{other} also brings {each}", each=_(each), other=other.name) for each in both)


def _one_only(declared: str) -> bool:
    return declared.startswith(("settings ", "command ", "slash command ", "endpoint "))


def _view(name: str, manifest: Manifest | None, plugin: Installed | None) -> Mapping[str, Any]:
    problem = ""
    if plugin is None:
        state = "gone"
    elif manifest is not None and manifest.on:
        state = "on"
        if plugin.version != manifest.version:
            problem = translatable(
                "version {installed} is installed, {enabled} was enabled",
                installed=plugin.version,
                enabled=manifest.version,
            )
    elif plugin.kinds == (_PROVIDER,):
        state = "on"
    else:
        state = "off"
    if plugin is not None and len(plugin.packages) > 1:
        state, problem = (
            "refused",
            translatable(
                "several packages bring it: {packages}; uninstall all but one", packages=", ".join(plugin.packages)
            ),
        )
    return {
        "name": name,
        "package": plugin.packages[0] if plugin else manifest.package if manifest else "",
        "version": plugin.version if plugin else manifest.version if manifest else "",
        "state": state,
        "brings": manifest.declares if manifest else plugin.kinds if plugin else (),
        "problem": problem,
    }
