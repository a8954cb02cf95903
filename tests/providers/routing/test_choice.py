"""Which model is asked, why that one, and what a name means."""

from collections.abc import Mapping

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelRequest
from hob.core.settings import Secret
from hob.providers.http.addresses import is_loopback, is_private, is_same_origin, parse_ollama_host, without_credentials
from hob.providers.routing.choice import ModelChoice, ModelRef
from hob.providers.settings import ModelSettings, ProviderSettings

ALL_KEYS = {
    "ANTHROPIC_API_KEY": "a-1",
    "OPENAI_API_KEY": "o-1",
    "GEMINI_API_KEY": "g-1",
    "OPENROUTER_API_KEY": "r-1",
    "GROQ_API_KEY": "q-1",
}


def choose(
    settings: ModelSettings | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    ollama: bool = False,
    installed: str = "",
) -> ModelChoice:
    return ModelChoice(
        settings or ModelSettings(),
        environ or {},
        which=lambda name: f"/bin/{name}" if name == installed else None,
        is_reachable=lambda url: ollama,
    )


def asked(choice: ModelChoice, model: str = "", task: str = "chat") -> list[str]:
    return [str(ref) for ref in choice.chain(ModelRequest(model, "", (), task=task))]


@pytest.mark.parametrize(
    ("taken", "provider"),
    [
        ((), "anthropic"),
        (("ANTHROPIC_API_KEY",), "openai"),
        (("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), "gemini"),
        (("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), "openrouter"),
        (("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"), "groq"),
    ],
)
def test_keys_count_in_a_fixed_order_and_the_line_says_which(taken: tuple[str, ...], provider: str) -> None:
    environ = {name: key for name, key in ALL_KEYS.items() if name not in taken}
    choice = choose(environ=environ, ollama=True, installed="claude")
    usual = choice.default()
    assert usual is not None
    assert usual.provider == provider
    assert choice.line() == f"{usual} ({next(iter(environ))})"


def test_choice_without_keys_is_an_ollama_that_runs_here_or_else_an_installed_cli() -> None:
    assert choose(ollama=True, installed="claude").line() == "the first of http://127.0.0.1:11434 (running here)"
    assert choose(installed="codex").line() == "codex-cli (installed)"
    assert choose().line() == "none"
    assert choose().default() is None


def test_configured_model_wins_over_every_key() -> None:
    assert choose(ModelSettings(name="groq/llama-x"), ALL_KEYS).line() == "groq/llama-x (from your settings)"
    assert choose(ModelSettings(base_url="http://localhost:8000"), ALL_KEYS).default() == ModelRef("server", "")
    own = ModelSettings(providers={"work": ProviderSettings(base_url="https://llm.example.org/v1", model="big")})
    assert choose(own, ALL_KEYS).line() == "work/big (from your settings)"


def test_openais_variables_are_enough() -> None:
    environ = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"}
    choice = choose(environ=environ)
    assert choice.line() == "m (OPENAI_BASE_URL)"
    (key,) = choice.connect("server").keys
    assert key is not None
    assert key.reveal() == "sk-1"


def test_key_of_the_environment_is_not_sent_to_an_address_that_only_the_configuration_names() -> None:
    elsewhere = ModelSettings(
        base_url="http://192.168.1.5:8000/v1",
        providers={"anthropic": ProviderSettings(base_url="https://proxy.example.org")},
    )
    choice = choose(elsewhere, ALL_KEYS)
    assert choice.connect("server").keys == (None,)
    assert choice.connect("anthropic").keys == (None,)
    there = choose(ModelSettings(base_url="http://192.168.1.5:8000/v1"), {
        "OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://192.168.1.5:8000/v1/",
    })  # fmt: skip
    assert there.connect("server").keys != (None,)


def test_name_with_a_provider_is_that_providers_model() -> None:
    choice = choose(environ=ALL_KEYS)
    assert choice.resolve("openai/gpt-x") == ModelRef("openai", "gpt-x")
    assert choice.resolve("claude/opus") == ModelRef("anthropic", "opus")
    assert choice.resolve("openrouter/meta/llama") == ModelRef("openrouter", "meta/llama")
    assert choice.resolve("openrouter/auto") == ModelRef("openrouter", "openrouter/auto")
    assert choice.resolve("ollama/qwen3:8b") == ModelRef("ollama", "qwen3:8b")
    assert choice.resolve("gemini") == ModelRef("gemini", "gemini-flash-latest")


def test_name_without_a_provider_belongs_to_the_usual_one() -> None:
    assert choose(environ=ALL_KEYS).resolve("claude-x") == ModelRef("anthropic", "claude-x")
    assert choose(ModelSettings(base_url="http://localhost:1"), ALL_KEYS).resolve("qwen") == ModelRef("server", "qwen")
    assert choose(ModelSettings(name="claude-x"), ALL_KEYS).default() == ModelRef("anthropic", "claude-x")


def test_servers_model_may_be_named_like_a_provider_that_is_not_connected() -> None:
    choice = choose(ModelSettings(base_url="http://localhost:1234/v1", name="openai/gpt-oss-20b"))
    assert choice.default() == ModelRef("server", "openai/gpt-oss-20b")


def test_alias_stands_for_a_model_and_may_not_lead_in_a_circle() -> None:
    assert choose(ModelSettings(aliases={"fast": "quick", "quick": "groq/x"}), ALL_KEYS).resolve("fast") == ModelRef(
        "groq", "x"
    )
    with pytest.raises(ValueError, match="aliases form a circle: a -> b -> a"):
        ModelSettings(aliases={"a": "b", "b": "a"})


@pytest.mark.parametrize("name", ["ollma/qwen3:8b", "nosuch/x", "meta-llama/llama-3"])
def test_misspelt_name_is_never_sent_to_another_provider(name: str) -> None:
    work = {"work": ProviderSettings(base_url="https://llm.example.org/v1", model="big")}
    for settings in (ModelSettings(), ModelSettings(name="work/big", providers=work), ModelSettings(name=name)):
        with pytest.raises(ModelError, match="unknown provider"):
            choose(settings, ALL_KEYS).resolve(name)


def test_misspelt_provider_is_asked_about_even_where_a_server_takes_any_name() -> None:
    choice = choose(ModelSettings(base_url="http://localhost:1"))
    assert choice.resolve("meta-llama/llama-3") == ModelRef("server", "meta-llama/llama-3")
    with pytest.raises(ModelError, match=r"did you mean ollama\?"):
        choice.resolve("ollma/qwen3")


def test_unresolvable_default_model_does_not_affect_others() -> None:
    choice = choose(ModelSettings(name="nosuch/x"), ALL_KEYS)
    assert choice.line().startswith("none (unknown provider nosuch")
    assert asked(choice, "groq/y") == ["groq/y"]


def test_unknown_task_is_refused() -> None:
    with pytest.raises(ValueError, match=r"there is no tasks\.nonsense"):
        ModelSettings(tasks={"nonsense": "groq/x"})


def test_server_that_forwards_to_somebody_elses_models_is_not_local() -> None:
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:4000"}
    assert not choose(environ=environ).is_local(ModelRef("anthropic", "x"))
    said = ModelSettings(providers={"anthropic": ProviderSettings(local=True)})
    assert choose(said, environ).is_local(ModelRef("anthropic", "x"))


def test_address_in_the_environment_is_asked_without_a_key_too() -> None:
    choice = choose(environ={"ANTHROPIC_BASE_URL": "http://127.0.0.1:4000"})
    assert choice.line() == "anthropic/claude-sonnet-5-5 (ANTHROPIC_BASE_URL)"


def test_openais_key_belongs_to_the_server_that_the_environment_names() -> None:
    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    assert "openai" not in {connected.provider.id for connected in choose(environ=environ).connected()}


def test_provider_without_a_key_says_where_to_put_one() -> None:
    with pytest.raises(ModelError, match=r"set GROQ_API_KEY or model\.providers\.groq\.api_key") as caught:
        choose(environ={"OPENAI_API_KEY": "k"}).resolve("groq/x")
    assert caught.value.fault is ModelFault.NOT_CONFIGURED
    with pytest.raises(ModelError, match="Ollama"):
        choose().resolve("x")


def test_usual_model_and_that_of_a_task_have_stand_ins_and_a_chosen_one_has_none() -> None:
    settings = ModelSettings(
        name="anthropic/big", fallbacks=["openai/mid", "nobody/x", "groq/y"], tasks={"summary": "groq/small"}
    )
    choice = choose(settings, ALL_KEYS)
    assert asked(choice) == ["anthropic/big", "openai/mid", "groq/y"]
    assert asked(choice, "anthropic/big") == ["anthropic/big", "openai/mid", "groq/y"]
    assert asked(choice, "gemini/z") == ["gemini/z"]
    assert asked(choice, task="summary") == ["groq/small", "anthropic/big", "openai/mid", "groq/y"]


def test_several_keys_of_a_provider_keep_their_order() -> None:
    keys = [Secret.of("2"), Secret.of("3")]
    own = ModelSettings(providers={"groq": ProviderSettings(api_key=Secret.of("1"), api_keys=keys)})
    found = choose(own, ALL_KEYS).connect("groq").keys
    assert [key.reveal() for key in found if key is not None] == ["1", "2", "3"]


def test_local_models_keep_data_on_the_owners_machines() -> None:
    settings = ModelSettings(providers={"box": ProviderSettings(base_url="http://10.0.0.7:8000", local=False)})
    choice = choose(settings, ALL_KEYS)
    assert choice.is_local(ModelRef("ollama", "qwen3"))
    assert not choice.is_local(ModelRef("ollama", "gpt-oss:120b-cloud"))
    assert not choice.is_local(ModelRef("box", "x"))
    assert not choice.is_local(ModelRef("openai", "x"))
    assert not choice.is_local(ModelRef("claude-cli", ""))


@pytest.mark.parametrize(
    ("address", "private"),
    [
        ("http://127.0.0.1:1", True),
        ("http://[::1]:1/v1", True),
        ("192.168.1.2:8000", True),
        ("http://nas.local:11434", True),
        ("http://gpu:8000", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8", False),
        ("http://[broken", False),
        ("http://134744072", False),
        ("http://0x08080808", False),
        ("http://", False),
        ("http://127.0.0.1.nip.io", False),
    ],
)
def test_private_address_is_recognised(address: str, private: bool) -> None:
    assert is_private(address) is private


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box:1234", "http://box:1234"),
        ("https://ollama.example.org", "https://ollama.example.org:443"),
        ("[::]:9", "http://[::1]:9"),
    ],
)
def test_ollamas_variable_may_be_written_as_for_the_server(said: str, address: str) -> None:
    assert parse_ollama_host(said) == address


def test_name_that_begins_like_this_machine_is_not_this_machine() -> None:
    assert not is_loopback("http://127.0.0.1.nip.io/v1")
    assert is_loopback("http://127.1.2.3:8000")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://api.groq.com/openai/v1", "https://api.groq.com", True),
        ("https://api.groq.com:443", "api.groq.com/x", True),
        ("http://api.groq.com", "https://api.groq.com", False),
        ("https://api.groq.com:8443", "https://api.groq.com", False),
        ("https://api.groq.com.evil.example", "https://api.groq.com", False),
        ("https://api.groq.com@evil.example", "https://api.groq.com", False),
        ("http://", "http://", False),
    ],
)
def test_place_is_scheme_host_and_port(one: str, other: str, same: bool) -> None:
    assert is_same_origin(one, other) is same


def test_each_key_of_the_environment_goes_to_its_own_address_alone() -> None:
    official = ModelSettings(base_url="https://api.openai.com/v1")
    assert choose(official, {"OPENAI_API_KEY": "p", "OPENAI_BASE_URL": "https://proxy.example.org"}).connect(
        "server"
    ).keys == (None,)
    plain = ModelSettings(base_url="http://api.groq.com/openai/v1")
    assert choose(plain, {"GROQ_API_KEY": "q"}).connect("server").keys == (None,)
    own = ModelSettings(providers={"anthropic": ProviderSettings(base_url="https://api.anthropic.com")})
    proxied = {"ANTHROPIC_API_KEY": "p", "ANTHROPIC_BASE_URL": "https://proxy.example.org"}
    assert choose(own, proxied).connect("anthropic").keys == (None,)


def test_address_is_shown_without_the_password_in_it() -> None:
    assert without_credentials("https://user:secret@llm.example.org/v1") == "https://llm.example.org/v1"
    assert without_credentials("user:secret@llm.example.org") == "llm.example.org"
    assert "secret" not in choose(ModelSettings(base_url="http://u:secret@127.0.0.1:1")).line()
