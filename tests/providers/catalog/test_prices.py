"""Prices: the owner's word, then the address, then the vendors' list; what is not known is None and never nothing."""

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from genai_prices.data import providers

from hob.core.models import ModelRequest, Price, Thinking, Usage, UserMessage
from hob.core.settings import Secret
from hob.providers.catalog.catalog import PROVIDERS
from hob.providers.catalog.price_table import PriceTable, stamp
from hob.providers.catalog.prices import FREE, PriceList, open_prices
from hob.providers.routing.choice import ModelChoice
from hob.providers.routing.model_routes import open_wire
from hob.providers.settings import ModelSettings, PriceSetting, ProviderSettings
from hob.testing.clock import ManualClock
from tests.made_once import make_prices

KEYS = {name: "key" for provider in PROVIDERS for name in provider.keys}
GPT_5_MINI = Price(250_000, 2_000_000, 25_000, 250_000)
ELSEWHERE = {
    "together": ProviderSettings(wire="openai", base_url="https://api.together.xyz/v1"),
    "ours": ProviderSettings(wire="openai", base_url="https://models.example/v1"),
    "barn": ProviderSettings(wire="ollama", base_url="http://192.168.1.9:11434"),
    "nas": ProviderSettings(wire="openai", base_url="http://nas.lan:8080/v1"),
    "shed": ProviderSettings(wire="openai", base_url="http://shed.lan:8080/v1", local=True),
}


@pytest.fixture(autouse=True)
def lists_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PriceTable, "_make", make_prices)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed prices, made as Hob makes them."""
    path = tmp_path_factory.mktemp("cache")
    asyncio.run(PriceTable(path / "prices.json").prepare())
    return path


def prices(folder: Path, own: dict[str, PriceSetting] | None = None, **settings: str) -> PriceList:
    choice = ModelChoice(ModelSettings(providers=ELSEWHERE, base_url=settings.get("base_url", "")), KEYS)
    return open_prices(own or {}, choice, folder, ManualClock(datetime(2026, 11, 20, tzinfo=UTC)))[0]


@pytest.mark.parametrize(
    ("model", "paid"),
    [  # dollars per million tokens of input and output, as the vendors' pages say
        ("openai/gpt-5-mini", (0.25, 2)),
        ("openai/gpt-5-mini-2025-08-07", (0.25, 2)),
        ("openai/gpt-4o-2024-05-13", (5, 15)),  # dearer than its successors of the same name
        ("openai/gpt-5-mini-20250807", (0.25, 2)),
        ("openai/gpt-5-mini-2031-01-01", (0.25, 2)),  # a date that the list does not have yet
        ("anthropic/claude-sonnet-4-5-20250929", (3, 15)),
        ("claude/claude-sonnet-4-5", (3, 15)),
        ("anthropic/claude-opus-4-5@20251101", (5, 25)),
        ("gemini/gemini-2.5-pro", (1.25, 10)),
        ("google/gemini-2.5-flash", (0.3, 2.5)),
        ("gemini/models/gemini-2.5-flash", (0.3, 2.5)),
        ("xai/grok-4", (3, 15)),
        ("grok/grok-4-0709", (3, 15)),
        ("x-ai/grok-4", (3, 15)),
        ("openrouter/anthropic/claude-sonnet-4.5", (3, 15)),
        ("openrouter/anthropic/claude-sonnet-4.5:floor", (3, 15)),
        ("openrouter/openai/gpt-5-mini", (0.25, 2)),
        ("groq/llama-3.3-70b-versatile", (0.59, 0.79)),
        ("together/meta-llama/Llama-3.3-70B-Instruct-Turbo", (0.88, 0.88)),
        ("openai/text-embedding-3-small", (0.02, 0)),
    ],
)
def test_listed_model_costs_what_its_vendor_says(folder: Path, model: str, paid: tuple[float, float]) -> None:
    price = prices(folder).find_price(model)
    assert price is not None
    assert (price.input / 1e6, price.output / 1e6) == paid


@pytest.mark.parametrize(
    "model",
    [
        "openai/no-such-model",
        "openai/whisper-1",  # paid by the hour
        "openrouter/openrouter/auto",
        "openrouter/anthropic/claude-sonnet-4.5:nitro",  # may go to a dearer server
        "openrouter/anthropic/claude-sonnet-4.5:online",  # searches are paid too
        "ours/gpt-5-mini",  # nobody knows what they take
        "nas/llama3",  # in the network, but whose bill is it?
        "ollama/gpt-oss:120b-cloud",
        "claude-cli/sonnet",
        "nobody/gpt-5-mini",
        "",
    ],
)
def test_unknown_value_is_none(folder: Path, model: str) -> None:
    assert prices(folder).find_price(model) is None


@pytest.mark.parametrize(
    "model",
    ["ollama/llama3.2", "barn/qwen3:8b", "lmstudio/anything", "shed/llama3", "openrouter/deepseek/deepseek-r1:free"],
)
def test_local_model_is_known_to_be_free(folder: Path, model: str) -> None:
    assert prices(folder).find_price(model) == FREE


@pytest.mark.parametrize(
    ("local", "vendors", "own"), [(None, GPT_5_MINI, FREE), (False, GPT_5_MINI, None), (True, FREE, FREE)]
)
def test_vendors_model_costs_the_same_through_a_gateway_on_this_machine(
    folder: Path, local: bool | None, vendors: Price, own: Price | None
) -> None:
    at = "http://127.0.0.1:4000/v1"
    gateway = ProviderSettings(base_url=at, api_key=Secret.of("k"), local=local)
    mine = ProviderSettings(wire="openai", base_url=at, local=local)
    choice = ModelChoice(ModelSettings(providers={"openai": gateway, "mine": mine}), {})
    found = open_prices({}, choice, folder, ManualClock(datetime(2026, 11, 20, tzinfo=UTC)))[0]
    assert (found.find_price("openai/gpt-5-mini"), found.find_price("mine/gpt-5-mini")) == (vendors, own)


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("http://127.0.0.1:8080/v1", FREE),
        ("https://api.openai.com/v1", GPT_5_MINI),
        ("https://api.together.xyz/v1", None),
        ("https://models.example/v1", None),
    ],
)
def test_bare_name_costs_what_the_configured_server_takes(folder: Path, base_url: str, expected: Price | None) -> None:
    assert prices(folder, base_url=base_url).find_price("gpt-5-mini") == expected


def test_owners_price_wins(folder: Path) -> None:
    own = {
        "gpt-5-mini": PriceSetting(1, 2),
        "openrouter/openai/gpt-5-mini": PriceSetting(3, 4),
        "anthropic/*": PriceSetting(5, 6),
        "ollama/*": PriceSetting(7, 8),
    }
    found = prices(folder, own)
    paid = {
        model: found.find_price(model) for model in ("openai/gpt-5-mini-2025-08-07", "openrouter/openai/gpt-5-mini")
    }
    assert [price.output if price else None for price in paid.values()] == [2_000_000, 4_000_000]
    assert found.find_price("anthropic/claude-sonnet-4-5") == Price(5_000_000, 6_000_000, 5_000_000, 5_000_000)
    assert found.find_price("ollama/llama3.2") == Price(7_000_000, 8_000_000, 7_000_000, 7_000_000)


@pytest.mark.parametrize(
    ("own", "model", "expected"),
    [
        (PriceSetting(input=9), "openai/gpt-5-mini", Price(9_000_000, 2_000_000, 9_000_000, 9_000_000)),
        (PriceSetting(output=9), "openai/gpt-5-mini", Price(250_000, 9_000_000, 25_000, 250_000)),
        (PriceSetting(cache_read=9), "openai/gpt-5-mini", Price(250_000, 2_000_000, 9_000_000, 250_000)),
        (PriceSetting(input=9), "ollama/llama3.2", None),
        (PriceSetting(input=9), "ours/llama3", None),
        (PriceSetting(input=9), "claude-cli/sonnet", None),
    ],
)
def test_half_a_price_leaves_the_other_half_as_it_was(
    folder: Path, own: PriceSetting, model: str, expected: Price | None
) -> None:
    assert prices(folder, {model: own}).find_price(model) == expected


def test_half_a_price_applies_to_long_contexts_too(folder: Path) -> None:
    price = prices(folder, {"gemini-2.5-pro": PriceSetting(input=9)}).find_price("gemini/gemini-2.5-pro")
    assert price is not None
    assert [dearer.input for _, dearer in price.above] == [9_000_000]
    assert price.above[0][1].output > price.output > 0


async def test_half_a_price_loads_the_list_for_the_other_half(tmp_path: Path) -> None:
    found = prices(tmp_path, {"openai/gpt-5-mini": PriceSetting(input=9)})
    await found.prepare(["openai/gpt-5-mini"])
    assert found.find_price("openai/gpt-5-mini") is not None


def test_caches_and_long_contexts_have_prices_of_their_own(folder: Path) -> None:
    price = prices(folder).find_price("anthropic/claude-sonnet-4-5")
    assert price is not None
    assert price.cost(Usage(1_000_000 // 10, 0)) == 300_000
    assert price.cost(Usage(100_000, cache_read=100_000)) == 30_000
    assert price.cost(Usage(100_000, cache_write=100_000)) == 375_000
    assert price.cost(Usage(100_000, cache_write=100_000, cache_write_1h=100_000)) == 600_000
    assert price.cost(Usage(200_001, 0)) == 1_200_006  # all of it, not what is above


def test_price_for_each_request_is_part_of_the_price(folder: Path) -> None:
    table = PriceTable(folder / "prices.json")
    listed = table.find("perplexity", "sonar")
    assert listed is not None
    price = listed.price_at(0)
    assert price is not None
    assert price.cost(Usage(1_000_000, 1_000_000)) == 2_000_000 + 12_000


def test_new_price_holds_from_its_day_on(folder: Path, tmp_path: Path) -> None:
    row = [None, [0, [1, 1, 1, 1, None, 0, []]], [1_800_000_000, [2, 2, 2, 2, None, 0, []]]]
    body = json.dumps({"names": {"m": 0}, "patterns": [], "models": [row]})
    head = {"format": 1, "stamp": stamp(), "bytes": {"openai": len(body)}, "urls": {}, "fallbacks": {}}
    (tmp_path / "prices.json").write_text(f"{json.dumps(head)}\n{body}\n")
    clock = ManualClock(datetime.fromtimestamp(1_799_999_999, UTC))
    found = open_prices({}, ModelChoice(ModelSettings(), KEYS), tmp_path, clock)[0]
    assert found.find_price("openai/m") == Price(1, 1, 1, 1)
    clock.set_wall(datetime.fromtimestamp(1_800_000_000, UTC))
    assert found.find_price("openai/m") == Price(2, 2, 2, 2)


def test_highest_price_counts_where_the_hour_decides(folder: Path) -> None:
    price = prices(folder).find_price("deepseek/deepseek-chat")
    assert price is not None
    assert price.output == 1_100_000  # at night it costs half


def test_list_says_what_its_source_says(folder: Path) -> None:
    """Every model of every provider, found by the source's own search."""
    now = datetime.now(UTC)
    table = PriceTable(folder / "prices.json")
    wrong = []
    for provider in providers:
        for model in provider.models:
            source = provider.find_model(model.id)
            listed = table.find(provider.id, model.id)
            if source is None or listed is None:
                wrong += [model.id] * ((source is None) != (listed is None))
                continue
            price, theirs = listed.price_at(now.timestamp()), source.get_prices(now)
            if price is None or not isinstance(theirs.input_mtok, Decimal):
                continue
            if price.input < theirs.input_mtok * 1_000_000 or listed.context_tokens != source.context_window:
                wrong.append(model.id)
    assert wrong == []


@pytest.mark.parametrize(
    "content", [None, b"", b"\x00\xff", b"[]\n", b'{"format":1,"stamp":"old","bytes":{}}\n', b'{"format":0}\n']
)
async def test_missing_outdated_or_broken_list_is_rebuilt(tmp_path: Path, content: bytes | None) -> None:
    spoilt = tmp_path / "cache" / "prices.json"
    if content is not None:
        spoilt.parent.mkdir()
        spoilt.write_bytes(content)
    table = PriceTable(spoilt)
    assert not table.is_ready()
    assert table.find("openai", "gpt-5-mini") is None
    await asyncio.gather(table.prepare(), table.prepare())
    assert table.find("openai", "gpt-5-mini") is not None
    assert [file.name for file in spoilt.parent.iterdir()] == ["prices.json"]


async def test_failed_list_leaves_prices_unknown_and_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_text("not a folder")
    found = open_prices({}, ModelChoice(ModelSettings(), KEYS), tmp_path / "cache", ManualClock())[0]
    for _ in range(3):
        await found.prepare(["openai/gpt-5-mini"])
        assert found.find_price("openai/gpt-5-mini") is None
    assert len(caplog.records) == 1


async def test_no_list_is_built_for_models_with_known_prices(tmp_path: Path) -> None:
    own = {"gpt-5-mini": PriceSetting(1, 2)}
    found = open_prices(own, ModelChoice(ModelSettings(), KEYS), tmp_path, ManualClock())[0]
    await found.prepare(["ollama/llama3.2", "openai/gpt-5-mini", "claude-cli/sonnet"])
    assert list(tmp_path.iterdir()) == []


async def test_price_asked_for_before_the_list_is_there_is_found_afterwards(tmp_path: Path) -> None:
    found = open_prices({}, ModelChoice(ModelSettings(), KEYS), tmp_path, ManualClock())[0]
    assert found.find_price("openai/gpt-5-mini") is None
    await found.prepare(["openai/gpt-5-mini"])
    assert found.find_price("openai/gpt-5-mini") is not None


def test_many_names_take_no_memory(folder: Path) -> None:
    found = prices(folder)
    for number in range(5_000):
        found.find_price(f"openai/made-up-{number}")
    assert len(found._found) <= 1_000


def test_daemon_never_imports_the_list_itself(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys; from pathlib import Path; from hob.providers.catalog.price_table import PriceTable;"
        "table = PriceTable(Path(sys.argv[1])); asyncio.run(table.prepare());"
        "assert table.find('openai', 'gpt-5-mini'); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "p")], capture_output=True, text=True, check=True)
    assert {"genai_prices", "pydantic"}.isdisjoint(done.stdout.split())


OWN = {
    "gpt-5-mini": PriceSetting(input=0.25, output=2.0, cache_read=0.025),
    "claude-*": PriceSetting(input=3, output=15),
    "claude-haiku-*": PriceSetting(input=1, output=5),
    "openrouter/auto": PriceSetting(input=9, output=9),
    "free-one": PriceSetting(input=0, output=0),
    "half-*": PriceSetting(input=1, output=1),
    "half-in": PriceSetting(input=1),
    "half-out": PriceSetting(output=1, cache_read=1),
}


@pytest.mark.parametrize(
    "name", ["gpt-5-mini", "openai/gpt-5-mini", "gpt-5-mini-2025-08-07", "anthropic/gpt-5-mini-20250807"]
)
def test_price_is_found_without_provider_and_date(folder: Path, name: str) -> None:
    assert prices(folder, OWN).find_price(name) == Price(250_000, 2_000_000, 25_000, 250_000)


def test_longest_pattern_wins(folder: Path) -> None:
    assert prices(folder, OWN).find_price("anthropic/claude-haiku-4") == Price(
        1_000_000, 5_000_000, 1_000_000, 1_000_000
    )
    assert prices(folder, OWN).find_price("claude-opus-4") == Price(3_000_000, 15_000_000, 3_000_000, 3_000_000)


@pytest.mark.parametrize("name", ["half-in", "half-out"])
def test_half_a_price_counts_as_unknown(folder: Path, name: str) -> None:
    assert prices(folder, OWN).find_price(name) is None


def test_price_of_zero_is_known(folder: Path) -> None:
    assert prices(folder, OWN).find_price("free-one") == Price(0, 0, 0, 0)


@pytest.mark.parametrize("thinking", [None, Thinking.OFF, Thinking.LOW, Thinking.HIGH])
@pytest.mark.parametrize(
    "model",
    [
        "mistral/mistral-large-latest",
        "openai/gpt-4o",
        "openai/gpt-5-mini",
        "groq/llama-3.3-70b-versatile",
        "openrouter/x/y",
        "anthropic/claude-sonnet-4-5",
        "anthropic/claude-3-5-haiku-latest",
        "gemini/gemini-2.0-flash",
        "gemini/gemini-2.5-pro",
        "barn/qwen3",
    ],
)
def test_output_limit_never_exceeds_the_requested_output(folder: Path, model: str, thinking: Thinking | None) -> None:
    """Room for thinking was held back for models that do not think: 1.7 times what their answer could cost."""
    request = ModelRequest(model, "", (UserMessage("hi"),), thinking=thinking)
    choice = ModelChoice(ModelSettings(providers=ELSEWHERE), KEYS)
    ref = choice.resolve(model)
    body = json.loads(open_wire(choice.connect(ref.provider)).encode(request, model=ref.model, images={}))
    asked = next(
        place[name]
        for place in (body, body.get("generationConfig", {}), body.get("options", {}))
        for name in ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict")
        if name in place
    )
    assert prices(folder).max_output(model, request) == asked
