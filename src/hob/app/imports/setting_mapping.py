"""Mapping another assistant's settings to Hob's. Nothing is guessed; settings without a counterpart are listed."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from hob.app.imports.contents import SkippedItem, SourceKey, SourceSetting
from hob.app.imports.source_files import Object, inner
from hob.config.positions import dotted
from hob.core.models import Thinking
from hob.core.values import dataclass
from hob.guard.admission.settings import AdmissionSettings
from hob.providers.catalog.catalog import PROVIDERS, SERVER, Provider, find_provider
from hob.providers.settings import ProviderSettings

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
_VARIABLE = re.compile(r"\$\{([A-Z][A-Z0-9_]{0,80})\}")
_POLICIES: Mapping[str, tuple[str, ...]] = {
    "dm_policy": ("pairing", "allowlist", "disabled"),
    "group_policy": ("allowlist", "disabled"),
}
ELSEWHERE = "the folder is not in its usual place; --mine says that it is your own"
_MAX_NAME = 200
_MAX_KEY = 4_000


@dataclass(slots=True)
class SettingMapping:
    """Collects the mapped settings and keys. Texts are validated, since accepted ones are written into Hob's settings.

    Unless the file is the `owners` own, nothing in it may set an address, refer to a secret on this machine, or say who
    may write: otherwise its author would choose where keys and messages go, and who is admitted.
    """

    environ: Mapping[str, str]
    owners: bool
    variables_there: dict[str, str] = field(default_factory=dict)
    """The values of variables that the file may refer to."""
    settings: list[SourceSetting] = field(default_factory=list)
    keys: list[SourceKey] = field(default_factory=list)
    left: list[SkippedItem] = field(default_factory=list)
    _reached: set[str] = field(default_factory=set)
    _elsewhere: set[str] = field(default_factory=set)
    _allowed: dict[str, list[str]] = field(default_factory=dict)
    _unused: dict[str, str] = field(default_factory=dict)

    def leave(self, what: str, why: str) -> None:
        """List something as skipped."""
        self.left.append(SkippedItem(what, why))

    def leave_others(self, part: Object, known: Iterable[str], label: str) -> None:
        """List the entries of a part of the configuration that Hob has no setting for."""
        for name in sorted(set(map(str, part)).difference(known)):
            self.leave(f"{label}.{name}", "Hob has no such setting, or decides it by itself")

    def provider(self, name: str, source: str, *, base_url: object = None, wire: str = "", key: object = None) -> None:
        """Add a provider with its key; an unknown one needs an address."""
        id = self.id_of(name)
        if not _ID.fullmatch(id) or id == SERVER:
            return self.leave(source, "it has no valid name that a setting can have")
        known = find_provider(id)
        address = base_url.strip() if isinstance(base_url, str) else ""
        if known is not None and known.base_url.rstrip("/") == address.rstrip("/"):
            address = ""
        if known is None and not address:
            return self.leave(source, "Hob does not know it, and no address stands there")
        if address:
            if not _is_line(address) or not _is_address(address):
                return self.leave(source, "its address is none")
            if not self.owners:
                self._elsewhere.add(id)
                return self.leave(source, f"an address is not taken: {ELSEWHERE}")
            self._add_setting(dotted(("model", "providers", id, "base_url")), address, source)
            if wire and (known is None or known.wire != wire):
                self._add_setting(dotted(("model", "providers", id, "wire")), wire, source)
        if self._add_key(id, key, source) or known is None or known.keyless:
            self._reached.add(id)
        return None

    def variables(self, found: Iterable[tuple[str, object]], source: str) -> None:
        """Add variables: keys by their usual names, and those that the file refers to."""
        for name, value in found:
            if isinstance(value, str) and not _VARIABLE.fullmatch(value):
                self.variables_there.setdefault(name, value)
            provider = next((each for each in PROVIDERS if name in each.keys), None)
            if provider is None:
                self._unused[name] = source
            elif self._add_key(provider.id, value, f"{source}: {name}"):
                self._reached.add(provider.id)

    def model(self, reference: object, source: str, setting: str = "model.name") -> None:
        """Set the model, if it can be reached from here."""
        if (name := self._reachable_model(reference, source)) is not None:
            self._add_setting(setting, name, source)

    def fallbacks(self, references: object, source: str) -> None:
        """Set the fallback models."""
        found = [self._reachable_model(each, source) for each in references] if isinstance(references, list) else []
        if names := tuple(name for name in found if name is not None):
            self.settings.append(SourceSetting("model.fallbacks", names, source))

    def alias(self, alias: object, reference: str, source: str) -> None:
        """Add an alias of a model."""
        if not isinstance(alias, str) or not _is_line(alias) or len(alias) > 60 or not self._is_reference(reference):
            return
        if "/" in alias or find_provider(alias) is not None:
            self.leave(source, "an alias would stand in the way of a model's own name")
        elif find_provider(provider := reference.partition("/")[0]) is None and provider.lower() not in self._reached:
            self.leave(f"{source} ({reference})", "Hob does not know its provider")
        else:
            self._add_setting(dotted(("model", "aliases", alias)), self._normalised(reference), source)

    def thinking(self, level: object, source: str) -> None:
        """Set the thinking level."""
        if level in list(Thinking):
            self._add_setting("model.thinking", str(level), source)
        elif level is not None:
            self.leave(source, "Hob has no such level")

    def allow(self, channel: str, ids: object, source: str) -> None:
        """Allow people to write on a channel."""
        self._add_admitted("admission.allow", channel, ids, source, "it would let everybody in")

    def groups(self, channel: str, ids: object, source: str) -> None:
        """Answer in these groups."""
        self._add_admitted("admission.groups", channel, ids, source, "it would answer in every group")

    def policy(self, channel: str, kind: str, word: object, source: str) -> None:
        """Set the handling of unknown people (`dm_policy`) and groups (`group_policy`), but never admit more people."""
        if word is not None and not self.owners:
            self.leave(source, f"who may write is not taken: {ELSEWHERE}")
        elif word == "open":
            self.leave(source, "it is open to everybody; if you want that, set it yourself")
        elif word in _POLICIES[kind] and _ID.fullmatch(channel):
            self._add_setting(dotted(("admission", "channels", channel, kind)), str(word), source)
        elif word is not None:
            self.leave(source, "Hob has no such policy")

    def finish(self) -> None:
        """Add the collected lists, and list the unused variables. Must be called last."""
        for name, place in self._unused.items():
            self.leave(f"{place}: {name}", "Hob has no setting for this variable")
        for key, entries in self._allowed.items():
            self.settings.append(SourceSetting(key, tuple(dict.fromkeys(entries)), "channels", adds=True))

    def id_of(self, name: str) -> str:
        """Return Hob's id of a provider of this name."""
        known: Provider | None = find_provider(name)
        return known.id if known is not None else name.lower()

    def _add_admitted(self, key: str, channel: str, ids: object, source: str, everybody: str) -> None:
        if ids and not self.owners:
            self.leave(source, f"who may write is not taken: {ELSEWHERE}")
            return
        if not _ID.fullmatch(channel):
            return
        for id in ids if isinstance(ids, list) else ():
            entry = f"{channel}:{id}" if isinstance(id, str | int) and not isinstance(id, bool) else ""
            if entry.endswith(":*"):
                self.leave(source, f"{everybody}; if you want that, set it yourself")
            elif entry and _is_line(entry) and _is_admitted(entry):
                self._allowed.setdefault(key, []).append(entry)
            else:
                self.leave(source, "an entry is no id")

    def _add_key(self, provider: str, value: object, source: str) -> bool:
        """Return whether the provider has a key afterwards, perhaps an existing one."""
        known = find_provider(provider)
        there = known is not None and any(self.environ.get(name, "").strip() for name in known.keys)
        setting = dotted(("model", "providers", provider, "api_key"))
        if isinstance(value, Mapping) and value.get("source") == "env" and isinstance(value.get("id"), str):
            value = f"${{{value['id']}}}"
        if value is None or value == "":
            return there
        if not isinstance(value, str):
            self.leave(f"{source}: the key", "it is kept elsewhere; `hob secrets set` takes it, or a reference to it")
            return there
        if variable := _VARIABLE.fullmatch(value):
            name = variable[1]
            if name not in self.variables_there:
                return self._refer_to_variable(provider, setting, name, source) or there
            value = self.variables_there[name]
            self._unused.pop(name, None)
        if not _is_line(value, _MAX_KEY) or not value.isascii() or " " in value or "${" in value:
            self.leave(f"{source}: the key", "it is no key, or one that is made of other parts")
            return there
        self.keys.append(SourceKey(setting, value, source))
        return True

    def _refer_to_variable(self, provider: str, setting: str, variable: str, source: str) -> bool:
        """Let a setting refer to a variable of this environment. Return whether that is a key."""
        known = find_provider(provider)
        if not self.environ.get(variable, "").strip():
            self.leave(f"{source}: the key", f"the variable {variable} is not set here; `hob secrets set {setting}`")
            return False
        if known is not None and variable in known.keys:
            return True
        if not self.owners:
            self.leave(f"{source}: the key", f"it would be a variable of yours: {ELSEWHERE}")
            return False
        self._add_setting(setting, f"env:{variable}", source)
        return True

    def _reachable_model(self, reference: object, source: str) -> str | None:
        if reference is None:
            return None
        if not isinstance(reference, str) or not self._is_reference(reference):
            self.leave(source, "it is no model's name")
            return None
        name = self._normalised(reference)
        provider = name.partition("/")[0]
        known = find_provider(provider)
        if provider in self._elsewhere:
            self.leave(f"{source} ({name})", "the address of its provider is not taken")
            return None
        usable = provider in self._reached or (
            known is not None and (known.keyless or any(self.environ.get(each) for each in known.keys))
        )
        if not usable:
            why = "no key for it was found" if known is not None else "Hob does not know its provider"
            self.leave(f"{source} ({name})", f"{why}; `hob onboard` connects a model")
            return None
        return name

    def _normalised(self, reference: str) -> str:
        provider, slash, model = reference.partition("/")
        return f"{self.id_of(provider)}{slash}{model}"

    def _is_reference(self, reference: str) -> bool:
        return _is_line(reference) and all(reference.partition("/")) and " " not in reference

    def _add_setting(self, key: str, value: str, source: str) -> None:
        self.settings.append(SourceSetting(key, value, source))


def usual_wire(provider: str) -> str:
    """Return the wire of a provider by name, as nanobot and KafClaw choose it; empty: the provider's own."""
    return "" if provider in ("anthropic", "gemini") else "openai"


def leave_rest(
    mapping: SettingMapping, config: Object, taken: Iterable[str], reasons: Mapping[str, str], label: str
) -> None:
    """List every part of a configuration that was not used, without its values."""
    known = set(taken)
    for name in sorted(map(str, config)):
        value = inner(config, name)
        if name in known or value in (None, {}, [], ""):
            continue
        parts = [f"{name}.{each}" for each in sorted(map(str, value))] if isinstance(value, Mapping) else [name]
        if isinstance(value, Mapping) and not any(each.startswith(f"{name}.") for each in known):
            parts = [name]
        rest = [each for each in parts if each not in known and not any(k.startswith(f"{each}.") for k in known)]
        for each in rest:
            mapping.leave(f"{label}: {each}", reasons.get(each, reasons.get(name, "Hob has no such setting")))


def _is_line(text: str, maximum: int = _MAX_NAME) -> bool:
    return 0 < len(text) <= maximum and text.isprintable()


def _is_address(text: str) -> bool:
    try:
        ProviderSettings(base_url=text)
    except ValueError:
        return False
    return True


def _is_admitted(entry: str) -> bool:
    try:
        AdmissionSettings(allow=[entry])
    except ValueError:
        return False
    return True
