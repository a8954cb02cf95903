"""`hob webhooks`: list and test incoming webhooks."""

import secrets
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import error_of
from hob.app.daemon.unix_http import NotRunning, upload
from hob.app.home import socket_of
from hob.app.settings.sections import read_config
from hob.cli.output import line, paint, print_table, printed_json
from hob.cli.translating import _
from hob.core.errors import InvalidRequest, NotConfigured, NotFound
from hob.core.translation.language import translatable
from hob.gateway.webhooks.schemes import sign_headers
from hob.gateway.webhooks.settings import Webhooks, WebhookSettings

app = App(name="webhooks", help="List and test incoming webhooks.", result_action="return_value")

_SAMPLE = '{{"test": "{id}", "text": "A delivery to try this webhook out; `hob webhooks test` made it."}}'

Json = Annotated[bool, Parameter(help="Print JSON.")]


@app.default
@app.command(name="list")
def list_(*, json: Json = False) -> None:
    """List incoming webhooks: address, signature, class of sender."""
    views = [_view(name, each) for name, each in read_config()[Webhooks].items()]
    if printed_json({"webhooks": views}, json):
        return
    print_table(
        (_("address"), _("signature"), _("sender"), _("answer")),
        [
            ((f"POST /hooks/{view['name']}", "bold"), view["scheme"], view["sender"], view["answer"] + _trouble(view))
            for view in views
        ],
        _("No incoming webhooks yet; a table [webhooks.NAME] in config.toml adds one."),
    )


def _trouble(view: Mapping[str, Any]) -> str:
    if not view["problem"]:
        return ""
    told = _("  accepts nothing: {problem}", problem=line(_(view["problem"]), 200))
    return f"\n{paint(told, 'red')}"


@app.command(name="test")
def try_(
    name: Annotated[str, Parameter(help="The webhook.")],
    *,
    body: Annotated[Path | None, Parameter(help="A file with the JSON to send; without it a sample.")] = None,
    json: Json = False,
) -> None:
    """Send a signed sample to the running daemon, as the webhook's sender would."""
    config = read_config()
    settings = config[Webhooks].get(name)
    if settings is None:
        raise NotFound(translatable("no webhook is called {name}; `hob webhooks list` shows them", name=line(name)))
    id = f"test_{secrets.token_hex(8)}"
    data = _read(body) if body is not None else _SAMPLE.format(id=id).encode()
    secret = settings.secrets[0].reveal()
    headers = sign_headers(settings.scheme, secret, id, int(time.time()), data, settings.header)
    try:
        answer = upload(socket_of(config.home), f"/hooks/{name}", data, headers | {"content-type": "application/json"})
    except NotRunning:
        raise NotFound("no Hob is running here; `hob serve` starts one") from None
    if "error" in answer.body:
        if answer.status == 401:  # HTTP callers get no details, but this is the owner
            raise NotConfigured(
                translatable("webhook {name} is refused by the Hob that runs; `hob logs` says why", name=name)
            )
        raise error_of(answer.body)
    if not printed_json(answer.body, json):
        print(
            _(
                "{state}: {id}; `hob tasks --all` shows what came of it",
                state=_(answer.body["state"]),
                id=answer.body["id"],
            )
        )


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InvalidRequest(
            translatable("{file} cannot be read: {strerror}", file=file, strerror=error.strerror)
        ) from None


def _view(name: str, settings: WebhookSettings) -> Mapping[str, Any]:
    return {
        "name": name,
        "scheme": settings.scheme.value,
        "sender": settings.sender.value,
        "answer": settings.answer.value,
        "problem": settings.problem() or None,
    }
