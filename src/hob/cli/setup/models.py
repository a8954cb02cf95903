"""`hob models`: list, scan, test and choose models."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import reach, reload_running, running_model
from hob.app.models.probe import ModelSetup, open_model_setup, try_media
from hob.app.settings.sections import SECTIONS, choose_models, read_config
from hob.cli.dates_and_figures import number
from hob.cli.output import line, paint, print_table, printable, sentence
from hob.cli.setup.config import set_setting
from hob.cli.translating import _, model_line, ngettext, terminal_language
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.clock import SystemClock
from hob.core.errors import ModelError
from hob.core.models import ModelRequest, Price
from hob.core.money import MICRO, price
from hob.core.translation.language import translatable
from hob.providers.http.addresses import without_credentials
from hob.providers.http.wire import ListedModel
from hob.providers.media.media import open_media
from hob.providers.routing.choice import NO_MODEL_ADVICE, ConnectedProvider
from hob.providers.settings import ModelSettings

MILLION = 1_000_000
LABELS = ("tools", "images", "thinking")
"""Capabilities of models, in words."""
ROLE_WORDS: Mapping[str, str] = {"usual": translatable("default"), "stands in": translatable("fallback")}
"""Names of roles whose code needs a title for people."""
TASKS_HELP = "Use it for this task only: chat, summary, ..."

app = App(name="models", help="List, choose and test models.")


@app.default
@app.command(name="list")
def list_(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> int:
    """List the configured models and the connected providers."""
    return asyncio.run(_list(read_config(), as_json=json))


async def _list(config: Config, *, as_json: bool) -> int:
    async with open_model_setup(config, SystemClock()) as setup:
        rows = [await _row(setup, role, name) for role, name in _roles(setup)]
        providers = [_provider_row(connected) for connected in setup.choice.connected()]
        here_line = setup.choice.line()
    current = running_model(config.home) or here_line
    if as_json:
        print(json.dumps({"usual": current, "models": rows, "providers": providers}, indent=2))
        return 0
    print(_("Current model: {model}", model=paint(printable(model_line(current, terminal_language())), "bold")))
    if current != here_line:
        print(
            _(
                "The running daemon uses it. With this shell's environment it would be: {model}",
                model=printable(model_line(here_line, terminal_language())),
            )
        )
    if rows:
        print()
        print_table(
            (_("use"), _("model"), _("price per million tokens, context")),
            [(_(ROLE_WORDS.get(row["role"], row["role"])), printable(row["model"]), _facts(row)) for row in rows],
            "",
        )
    print()
    print_table(
        (_("provider"), _("key or login"), _("address")),
        [(row["id"], _(row["how"]), (line(row["base_url"] or row["wire"], 60), "dim")) for row in providers],
        sentence(_(NO_MODEL_ADVICE)),
    )
    return 0


def _roles(setup: ModelSetup) -> list[tuple[str, str]]:
    settings = setup.settings
    roles: list[tuple[str, str]] = [(translatable("usual"), settings.name)]
    roles += [(translatable("stands in"), name) for name in settings.fallbacks]
    roles += [(translatable("for {task}", task=task), name) for task, name in settings.tasks.items()]
    roles += [(translatable("as {alias}", alias=alias), name) for alias, name in settings.aliases.items()]
    media = ("embedding", "reranking", "transcription", "speech", "vision", "image_generation")
    roles += [(kind, getattr(settings, kind)) for kind in media]
    return [(role, name) for role, name in roles if name]


async def _row(setup: ModelSetup, role: str, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"role": role, "name": name, "model": name, "trouble": ""}
    try:
        row["model"] = str(setup.choice.resolve(name))
    except ModelError as error:
        return row | {"trouble": str(error)}
    await setup.prices.prepare((row["model"],))
    profile = setup.profiles.find_profile(row["model"])
    return row | {
        "price": _price(setup.prices.find_price(row["model"])),
        "context_tokens": profile.context_tokens,
        "small": profile.small,
    }


def _provider_row(connected: ConnectedProvider) -> dict[str, Any]:
    return {
        "id": connected.provider.id,
        "wire": connected.provider.wire,
        "base_url": without_credentials(connected.base_url),
        "how": connected.how,
        "keys": sum(key is not None for key in connected.keys),
        "local": connected.local,
    }


def _price(price: Price | None) -> dict[str, float] | None:
    """Format dollars per million tokens."""
    return None if price is None else {"input": price.input / MILLION, "output": price.output / MILLION}


def _facts(row: dict[str, Any]) -> str:
    facts = []
    if row.get("price"):
        facts.append(_dollars(row["price"]["input"], row["price"]["output"]))
    if row.get("context_tokens"):
        facts.append(_tokens(row["context_tokens"]))
    trouble = paint(line(_(row["trouble"]), 100), "red") if row["trouble"] else ""
    return paint("  ".join(facts), "dim") + trouble


def _dollars(in_: float, out: float) -> str:
    if not in_ and not out:
        return _("free")
    taken, given = (_(price(round(each * MICRO))) for each in (in_, out))
    return _("{input} in, {output} out", input=taken, output=given)


def _tokens(tokens: int) -> str:
    return f"{tokens / MILLION:g}M" if tokens >= MILLION else f"{round(tokens / 1000)}k"


@app.command
def scan(
    provider: Annotated[str, Parameter(help="Only this provider; not given: all that are connected.")] = "",
    *,
    search: Annotated[str, Parameter(help="Only names that contain this.")] = "",
    tools: Annotated[bool, Parameter(help="Only models known to call tools.")] = False,
    images: Annotated[bool, Parameter(help="Only models known to see.")] = False,
    free: Annotated[bool, Parameter(help="Only models that cost nothing.")] = False,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> int:
    """List the models of all connected providers. Costs no tokens."""

    def wanted(ref: str, listed: ListedModel, price: tuple[float, float] | None) -> bool:
        return (
            search.lower() in ref.lower()
            and (not tools or listed.tools is True)
            and (not images or listed.images is True)
            and (not free or price == (0.0, 0.0))
        )

    return asyncio.run(_scan(read_config(), provider, wanted, as_json=json))


async def _scan(config: Config, provider: str, wanted: Any, *, as_json: bool) -> int:
    found: list[dict[str, Any]] = []
    failures = 0
    async with open_model_setup(config, SystemClock()) as setup:
        ids = [provider] if provider else [connected.provider.id for connected in setup.choice.connected()]
        asked = await asyncio.gather(*(setup.model.routes.list_models(id) for id in ids), return_exceptions=True)
        for id, listing in zip(ids, asked, strict=True):
            if isinstance(listing, ModelError):
                failures += 1
                print(f"{paint(id, 'red', sys.stderr)}: {printable(_(str(listing)))}", file=sys.stderr)
                continue
            if isinstance(listing, BaseException):
                raise listing
            prefix = "" if id == "server" else f"{id}/"
            await setup.prices.prepare([f"{prefix}{listed.name}" for listed in listing[:1]])
            for listed in sorted(listing, key=lambda listed: listed.name):
                price = _listed_price(setup, prefix, listed)
                if wanted(f"{prefix}{listed.name}", listed, price):
                    found.append({"model": f"{prefix}{listed.name}", **_listed(listed), "price": price})
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        for row in found:
            print(_scanned(row))
        models = ngettext("{count} model", "{count} models", len(found))
        providers = ngettext("{count} provider", "{count} providers", len(ids))
        print(paint(_("{models} of {providers}", models=models, providers=providers), "dim"))
    return 1 if failures and not found else 0


def _listed(listed: ListedModel) -> dict[str, object]:
    return {
        "name": listed.name,
        "context_tokens": listed.context_tokens,
        "output_tokens": listed.output_tokens,
        "images": listed.images,
        "tools": listed.tools,
        "thinking": listed.thinking,
        "input_price": listed.input_price,
        "output_price": listed.output_price,
    }


def _listed_price(setup: ModelSetup, prefix: str, listed: ListedModel) -> tuple[float, float] | None:
    if listed.input_price is not None and listed.output_price is not None:
        return listed.input_price, listed.output_price
    known = _price(setup.prices.find_price(f"{prefix}{listed.name}"))
    return None if known is None else (known["input"], known["output"])


def _scanned(row: dict[str, Any]) -> str:
    facts = [_dollars(*row["price"])] if row["price"] else []
    if row["context_tokens"]:
        facts.append(_tokens(row["context_tokens"]))
    facts += [_(kind) for kind in LABELS if row[kind]]
    return f"{printable(row['model']):<56} {paint('  '.join(facts), 'dim')}"


@app.command(name="set")
def set_(
    model: Annotated[str, Parameter(help="provider/model, or an alias.")],
    *,
    fallback: Annotated[bool, Parameter(help="Add it to the fallbacks.")] = False,
    task: Annotated[str, Parameter(help=TASKS_HELP)] = "",
    alias: Annotated[str, Parameter(help="Only give it this name.")] = "",
    no_test: Annotated[bool, Parameter(help="Save it without testing it.", negative="")] = False,
) -> int:
    """Choose the model; saved to config.toml after it has answered."""
    config = read_config()
    if not model.strip():
        print(_("the name is empty; `hob models scan` lists the models"), file=sys.stderr)
        return 2
    doubt = None if no_test else asyncio.run(_doubt(config, model))
    if doubt is not None:
        print(f"hob: {_(doubt)}", file=sys.stderr)
    if doubt is not None or not (no_test or all("answer" in row for row in _test(config, [model], as_json=False))):
        print(_("Nothing was changed; `--no-test` stores it all the same."), file=sys.stderr)
        return 1
    settings = config[ModelSettings]
    if alias:
        key, value = f"model.aliases.{json.dumps(alias)}", model
    elif task:
        key, value = f"model.tasks.{json.dumps(task)}", model
    elif fallback:
        key, value = "model.fallbacks", json.dumps([*dict.fromkeys((*settings.fallbacks, model))])
    else:
        key, value = "model.name", model
    status = set_setting(key, value, sections=SECTIONS, home=config.home, environ=process_environment(), running=False)
    if status:
        return status
    print(_("Current model: {model}", model=_(choose_models(read_config()).line())))
    told = reload_running(config.home)
    if told is not None:
        now = _("The running daemon uses it now: {model}", model=model_line(told["model"], terminal_language()))
        print(_(told["problem"]) if told["problem"] else now, file=sys.stderr)
    return 0


async def _doubt(config: Config, model: str) -> str | None:
    async with open_model_setup(config, SystemClock()) as setup:
        return await setup.model.check_ref(model, "hob models set")


@app.command(name="test")
def check(
    models: Annotated[list[str] | None, Parameter(help="The models; the usual ones if not given.")] = None,
    *,
    media: Annotated[bool, Parameter(help="Test embedding, speech and vision instead.", negative="")] = False,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> int:
    """Ask models for one word and one tool call; show speed and cost. Exit status 1 if one fails."""
    if media:
        return asyncio.run(_test_media(read_config(), as_json=json))
    rows = _test(read_config(), models or [], as_json=json)
    return 0 if rows and all(row["ok"] for row in rows) else 1


async def _test_media(config: Config, *, as_json: bool) -> int:
    rows = []
    async with open_media(config[ModelSettings], choose_models(config), SystemClock()) as media:
        async for row in try_media(media):
            rows.append(row)
            if not as_json:
                mark = paint("✓", "green") if row["ok"] else paint("✗", "red")
                print(
                    f"{mark} {_(row['kind']):<14} {printable(row['model']):<36} {printable(_(row['told']))}", flush=True
                )
    if as_json:
        print(json.dumps(rows, indent=2))
    return 0 if all(row["ok"] for row in rows) else 1


def _test(config: Config, names: Sequence[str], *, as_json: bool) -> Sequence[Mapping[str, Any]]:
    rows = []
    for name in names or asyncio.run(_usual(config)):
        row = _try(config.home, name)
        rows.append(row)
        if not as_json:
            print(_tested(row), flush=True)
    if as_json:
        print(json.dumps(rows, indent=2))
    return rows


def _try(home: Path, name: str) -> Mapping[str, Any]:
    """Test a model; a running daemon does this, since it knows the spending limits."""
    return reach("POST", "/models/test", {"model": name}, timeout=None)


async def _usual(config: Config) -> Sequence[str]:
    """Return the usual model and its fallbacks."""
    async with open_model_setup(config, SystemClock()) as setup:
        return (await setup.model.route(ModelRequest("", "", ()))).request.models


def _tested(row: Mapping[str, Any]) -> str:
    name = f"{printable(row['model']):<36}"
    if not row["ok"]:
        return f"{paint('✗', 'red')} {name} {printable(_(row['trouble']))}"
    cost = _("cost unknown") if row["cost"] is None else _(price(row["cost"]))
    tools = _("calls tools") if row["tools"] else _("is shown no tools")
    answer = line(row["answer"], 24)
    took = f"{number(row['first'], 2)} s / {number(row['seconds'], 2)} s"
    return f"{paint('✓', 'green')} {name} {answer}  {took}  {cost}  {tools}"
