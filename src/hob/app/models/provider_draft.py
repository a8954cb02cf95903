"""Drafts of a model's settings, before they are written into the file."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hob.config.secrets import SecretSources, make_secret
from hob.core.errors import InvalidRequest
from hob.core.settings import Secret
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.catalog.catalog import SERVER
from hob.providers.http.addresses import is_same_origin
from hob.providers.settings import ModelSettings, ProviderSettings


@dataclass(frozen=True, slots=True)
class ProviderConfigDraft:
    """A model and the new settings by which it is reached.

    `base_url` is the address of the owner's own server; `key` is a reference (`env:`, `file:`, `keyring:`, `command:`),
    never a key.
    """

    model: str = ""
    provider: str = ""
    base_url: str = ""
    key: str = ""

    def settings(self, now: ModelSettings, sources: SecretSources) -> ModelSettings:
        """Return the settings with this draft. Raises ValueError for a malformed reference or address."""
        key = make_secret(self.key, "the key", sources) if self.key else None
        if self.provider == SERVER:
            return self._with_server(now, key)
        providers = now.providers
        if key is not None:
            own = replace(providers.get(self.provider, ProviderSettings()), api_key=key)
            providers = {**providers, self.provider: own}
        return replace(now, name=self.model or now.name, providers=providers)

    def changes(self, now: ModelSettings) -> Mapping[str, str | None]:
        """Return its changes to the file by dotted key; None removes one."""
        changed: dict[str, str | None] = {}
        if self.provider == SERVER:
            if self.base_url and self.base_url != now.base_url:
                changed["model.base_url"] = self.base_url
            if self.key or not self._keeps_key(now):
                changed["model.api_key"] = self.key or None
        elif self.key:
            changed[f"model.providers.{self.provider}.api_key"] = self.key
        if self.model and self.model != now.name:
            changed["model.name"] = self.model
        return changed

    def as_text(self) -> str:
        """Return the draft as one line for `read`."""
        return json.dumps({"model": self.model, "provider": self.provider, "base_url": self.base_url, "key": self.key})

    @classmethod
    def read(cls, text: str) -> "ProviderConfigDraft":
        """Parse the output of `as_text`. Raises InvalidRequest."""
        try:
            value: Any = json.loads(text)
            draft = cls(**value)
        except (ValueError, TypeError) as error:
            raise InvalidRequest(translatable("the draft of a model cannot be read")) from error
        if not all(isinstance(each, str) for each in value.values()):
            raise InvalidRequest(translatable("the draft of a model holds something else than texts"))
        return draft

    def _with_server(self, now: ModelSettings, key: Secret | None) -> ModelSettings:
        kept = now.api_key if self._keeps_key(now) else None
        base_url = self.base_url or now.base_url
        return replace(now, name=self.model or now.name, base_url=base_url, api_key=key or kept)

    def _keeps_key(self, now: ModelSettings) -> bool:
        """Return whether the existing key may stay: it is never sent to another server."""
        return now.api_key is None or not self.base_url or is_same_origin(self.base_url, now.base_url)
