"""OpenClaw's configuration as Hob's settings. https://docs.openclaw.ai/gateway/configuration-reference"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from hob.app.imports.contents import SourceFolder
from hob.app.imports.setting_mapping import SettingMapping, leave_rest
from hob.app.imports.source_files import Object, Unreadable, inner, object_at, read_lines, read_object

_WIRES: Mapping[str, str] = {
    "openai-completions": "openai",
    "openai-responses": "responses",
    "anthropic-messages": "anthropic",
    "google-generative-ai": "gemini",
    "ollama": "ollama",
}
_TAKEN = (
    "agents.defaults",
    "models.providers",
    "models.mode",
    "channels",
    "env",
    "meta",
    "wizard",
    "$schema",
)
_OF_AGENTS = ("model", "models", "thinkingDefault", "workspace")
_LATER = "Hob has no such part yet"
_REASONS: Mapping[str, str] = {
    "agents.list": "Hob is one assistant; conversations of all agents are taken",
    "agents.entries": "Hob is one assistant; conversations of all agents are taken",
    "auth": "keys are taken from where they are kept; logins are made anew with `hob onboard`",
    "browser": "see `hob config show` for browser.*",
    "cron": _LATER,
    "discovery": _LATER,
    "gateway": "Hob's own gateway has settings of its own; see `hob config show`",
    "hooks": "a hook makes Hob act: set it up by hand",
    "logging": "see `hob config show` for logs.*",
    "mcp": "`hob mcp add` connects a server, once you have accepted its tools",
    "memory": "see `hob config show` for memory.*",
    "messages": _LATER,
    "plugins": "programs of OpenClaw; Hob does not run them",
    "session": "Hob's conversations follow rules of their own; see bus.*",
    "skills": "skills are taken as files",
    "tools": "what tools may do is never taken over; see `hob policy`",
    "approvals": "what tools may do is never taken over; see `hob policy`",
    "commands": "what commands may do is never taken over; see `hob policy`",
    "talk": _LATER,
    "ui": _LATER,
}
_NO_CHANNEL = "the connection itself is not taken: Hob has no such channel yet"


def read_settings(config: Object, source: SourceFolder, agent: Path) -> SettingMapping:
    """Map the settings that Hob has too, and list the rest. `agent` is the folder of the agent whose keys are used."""
    mapping = SettingMapping(source.environ, source.owners)
    env = object_at(config, "env")
    mapping.variables(object_at(env, "vars").items(), "env.vars")
    mapping.variables(((name, value) for name, value in env.items() if isinstance(value, str)), "env")
    mapping.variables(_dot_env(source, mapping), ".env")
    for name, provider in object_at(config, "models", "providers").items():
        at = f"models.providers.{name}"
        api = inner(provider, "api")
        wire = _WIRES.get(str(api), "") if api else "openai"
        if not wire:
            mapping.leave(at, "Hob does not speak its protocol")
            continue
        mapping.provider(name, at, base_url=inner(provider, "baseUrl"), wire=wire, key=inner(provider, "apiKey"))
        if inner(provider, "headers"):
            mapping.leave(f"{at}.headers", "a header may be a secret; set it yourself")
    _read_profiles(mapping, agent / "agent" / "auth-profiles.json", source.root)
    _read_models(mapping, object_at(config, "agents", "defaults"))
    for name, channel in object_at(config, "channels").items():
        _read_channel(mapping, name, channel)
    mapping.finish()
    leave_rest(mapping, config, _TAKEN, _REASONS, "openclaw.json")
    return mapping


def _read_models(mapping: SettingMapping, defaults: Object) -> None:
    at = "agents.defaults.model"
    model = defaults.get("model")
    mapping.model(model if isinstance(model, str) else inner(model, "primary"), at)
    mapping.fallbacks(inner(model, "fallbacks"), f"{at}.fallbacks")
    for reference, more in object_at(defaults, "models").items():
        mapping.alias(inner(more, "alias"), reference, "agents.defaults.models")
    mapping.thinking(defaults.get("thinkingDefault"), "agents.defaults.thinkingDefault")
    mapping.leave_others(defaults, _OF_AGENTS, "openclaw.json: agents.defaults")


def _read_channel(mapping: SettingMapping, name: str, channel: object) -> None:
    if not isinstance(channel, Mapping) or name == "defaults":
        return
    at = f"channels.{name}"
    for place in (channel, object_at(channel, "dm")):
        mapping.allow(name, place.get("allowFrom"), f"{at}.allowFrom")
    mapping.policy(name, "dm_policy", channel.get("dmPolicy") or inner(channel, "dm", "policy"), f"{at}.dmPolicy")
    mapping.policy(name, "group_policy", channel.get("groupPolicy"), f"{at}.groupPolicy")
    mapping.groups(name, list(object_at(channel, "groups")), f"{at}.groups")
    if channel.get("groupAllowFrom"):
        mapping.leave(f"{at}.groupAllowFrom", "in groups Hob goes by people; `hob people link` says who is who")
    mapping.leave(at, _NO_CHANNEL)


def _read_profiles(mapping: SettingMapping, path: Path, root: Path) -> None:
    """Add the provider keys that OpenClaw stores beside its configuration."""
    if not path.exists():
        return None
    try:
        profiles = object_at(read_object(path, root), "profiles")
    except Unreadable as error:
        return mapping.leave(str(path), str(error))
    for name, profile in profiles.items():
        at, provider = f"auth-profiles.json: {name}", inner(profile, "provider")
        if not isinstance(provider, str):
            continue
        if inner(profile, "type") != "api_key":
            mapping.leave(at, "it is a login and no key; `hob onboard` finds installed CLIs that are logged in")
            continue
        mapping.provider(provider, at, key=inner(profile, "key") or inner(profile, "keyRef"))
    return None


def _dot_env(source: SourceFolder, mapping: SettingMapping) -> Iterator[tuple[str, str]]:
    path = source.root / ".env"
    if not path.exists():
        return
    try:
        for line in read_lines(path, source.root):
            name, equals, value = (line or b"").decode("utf-8", "replace").strip().partition("=")
            if equals and not name.startswith("#"):
                yield name.removeprefix("export ").strip(), value.strip().strip("\"'")
    except Unreadable as error:
        mapping.leave(str(path), str(error))
