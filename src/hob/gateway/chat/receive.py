"""Validating a message received over the API: files, session, model."""

from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import SessionKey
from hob.core.messages import POLLED_CHANNELS, Inbound
from hob.core.trust.labels import SenderClass
from hob.gateway.api import Api
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.chat.inbound import ChatMessage, inbound_of, load_attachments
from hob.gateway.http.failures import HttpRefusal


async def receive(api: Api, message: ChatMessage, key: str | None, caller: ApiCaller) -> Inbound:
    """Return the validated message, ready to be accepted. Raises InvalidRequest, NotAllowed and HttpRefusal."""
    files = await load_attachments(message, api.store.blobs)
    inbound = inbound_of(message, key, api.clock, caller, files)
    if inbound.model is not None:
        check_model(api, caller, inbound.model, bare=True)
    if inbound.session is not None:
        await _check_session(api, inbound.session)
    return inbound


def check_model(api: Api, caller: ApiCaller, name: str, *, bare: bool = False) -> None:
    """Raise HttpRefusal if the model is not available or the caller may not choose one (as with `/model`).

    A `bare` name without a provider may be one of the default server's.
    """
    if caller.cls is not SenderClass.OWNER:
        told = "this token takes the model that Hob chooses; to choose one is the owner's"
        raise HttpRefusal("not_allowed", told, param="model")
    try:
        api.models.check(name, bare=bare)
    except NotFound as error:
        raise HttpRefusal("model_not_found", str(error), param="model") from error


async def _check_session(api: Api, key: SessionKey) -> None:
    """Reject sessions of a channel that does not know them: answers would reach no one."""
    channel, _, name = key.partition(":")
    if channel in POLLED_CHANNELS and name.strip():
        return
    if not (await api.store.sessions.get(key)).updated:
        own = " and ".join(f"`{each}:NAME`" for each in sorted(POLLED_CHANNELS))
        raise InvalidRequest(f"there is no conversation {key[:80]!r}; {own} begin one, others must be there already")
