"""A model is detected or named, tested live, and only then saved, with its key by reference."""

import sys
from collections.abc import Iterator

import pytest

from hob.app.settings.sections import choose_models, read_config
from hob.cli.onboarding.report import SetupOptions, StepStatus
from hob.core.errors import InvalidRequest
from hob.providers.settings import ModelSettings

from .playing import REST, Machine, Person, statuses

KEY = "sk-ant-0123456789abcdef"


@pytest.fixture
def anthropic(machine: Machine) -> Machine:
    machine.patch.setenv("ANTHROPIC_BASE_URL", machine.server.root)
    return machine


def test_environment_key_is_found_tested_and_left_in_place(anthropic: Machine) -> None:
    anthropic.patch.setenv("ANTHROPIC_API_KEY", KEY)
    report = anthropic.set_up()
    assert statuses(report)["model"] is StepStatus.DONE
    assert 'name = "anthropic/claude-sonnet-5-5"' in anthropic.config
    assert (KEY in anthropic.config, anthropic.secrets) == (False, {})
    assert len(anthropic.server.requests) == 2  # a word and a tool call


def test_key_can_be_copied_into_a_file_for_the_service(anthropic: Machine) -> None:
    anthropic.patch.setenv("ANTHROPIC_API_KEY", KEY)
    person = Person([("Which model", "claude-sonnet"), ("key be kept", "file"), *REST])
    assert anthropic.set_up(person=person).ok
    anthropic.patch.delenv("ANTHROPIC_API_KEY")
    assert anthropic.secrets == {"model.providers.anthropic.api_key": f"{KEY}\n"}
    assert (anthropic.home / "secrets" / "model.providers.anthropic.api_key").stat().st_mode & 0o777 == 0o600
    assert 'api_key = "file:secrets/model.providers.anthropic.api_key"' in anthropic.config
    (key,) = choose_models(read_config()).connect("anthropic").keys
    assert key is not None
    assert key.reveal() == KEY


def test_typed_key_is_never_in_the_settings(anthropic: Machine) -> None:
    person = Person([("Which model", "enter a key"), ("Which provider", "Anthropic"), ("The key", KEY), *REST])
    report = anthropic.set_up(person=person)
    assert (report.ok, person.script) == (True, [])
    assert anthropic.server.requests[0].headers["x-api-key"] == KEY
    assert KEY not in anthropic.config
    assert anthropic.secrets == {"model.providers.anthropic.api_key": f"{KEY}\n"}
    assert any("console.anthropic.com" in line for line in person.heard)


def test_silent_model_is_not_saved_and_leaves_no_key(machine: Machine) -> None:
    mapping = SetupOptions(base_url=machine.server.url, model="locked", key="-")
    report = machine.set_up(mapping, key=KEY)
    assert statuses(report)["model"] is StepStatus.FAILED
    assert (machine.config, machine.secrets) == ("", {})
    failed = report.outcomes[0]
    assert "api_key" in failed.told
    assert failed.next


def test_person_learns_why_a_model_failed_and_chooses_again(machine: Machine) -> None:
    server = [("Which model should", "own that speaks"), ("address", machine.server.url), ("Its key", "")]
    person = Person([*server, ("Which model?", "locked"), *server, ("Which model?", "small-1"), *REST])
    report = machine.set_up(person=person)
    assert (report.ok, person.script) == (True, [])
    assert any(line.startswith("✗") for line in person.heard)
    assert 'name = "small-1"' in machine.config


def test_model_without_tool_calls_is_saved_only_on_request(machine: Machine) -> None:
    mapping = SetupOptions(base_url=machine.server.url, model="mute")
    assert "calls no tool" in machine.set_up(mapping).outcomes[0].told
    assert machine.config == ""
    server = [("Which model should", "own that speaks"), ("address", machine.server.url), ("Its key", "")]
    mute = [*server, ("Which model?", "mute")]
    assert machine.set_up(person=Person([*mute, ("all the same", "no"), *mute, ("all the same", "yes"), *REST])).ok
    assert 'name = "mute"' in machine.config


def test_setup_without_a_model_finishes_and_says_what_to_do(machine: Machine) -> None:
    report = machine.set_up()
    failed = next(outcome for outcome in report.outcomes if outcome.step == "model")
    assert (failed.status, "ANTHROPIC_API_KEY" in failed.next) == (StepStatus.FAILED, True)
    assert (machine.root / "hob" / "work" / ".git").is_dir()
    skipped = machine.set_up(person=Person([("Which model", "Not now"), *REST]))
    assert (skipped.ok, statuses(skipped)["model"]) == (True, StepStatus.SKIPPED)


def test_looking_again_finds_a_server_started_meanwhile(machine: Machine) -> None:
    class Starting(Person):
        def choose(self, question: str, options: object, default: str = "") -> str:
            machine.patch.setenv("OLLAMA_HOST", machine.server.root)
            return Person.choose(self, question, options, default)  # type: ignore[arg-type]

    person = Starting([("Which model", "Look again"), ("Which model", "Ollama"), ("Which model of", ""), *REST])
    assert machine.set_up(person=person).ok
    assert 'name = "ollama/' in machine.config


def test_another_server_never_gets_the_old_servers_key(machine: Machine) -> None:
    assert machine.set_up(SetupOptions(base_url=machine.server.url, model="small-1", key="-"), key=KEY).ok
    other = machine.server.url.replace("127.0.0.1", "localhost")
    machine.server.requests.clear()
    assert machine.set_up(SetupOptions(base_url=other, model="small-1")).ok
    asked = [request for request in machine.server.requests if request.headers["host"].startswith("localhost")]
    assert asked
    assert all(KEY not in str(request.headers) for request in asked)
    assert "api_key" not in machine.config
    assert read_config()[ModelSettings].base_url == other


def test_configured_model_is_probed_and_stays(machine: Machine) -> None:
    assert machine.set_up(SetupOptions(base_url=machine.server.url, model="small-1")).ok
    before = machine.config
    assert statuses(machine.set_up())["model"] is StepStatus.KEPT
    assert statuses(machine.set_up(person=Person([("Which model", "Keep"), *REST])))["model"] is StepStatus.KEPT
    assert machine.config == before


def test_name_with_a_slash_stays_with_the_server(machine: Machine) -> None:
    machine.patch.setenv("GROQ_API_KEY", "g")
    assert machine.set_up(SetupOptions(base_url=machine.server.url, model="groq/small")).ok
    assert machine.server.requests[-1].json()["model"] == "groq/small"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (SetupOptions(key=KEY, provider="anthropic"), "reference"),
        (SetupOptions(key="-"), "--provider"),
        (SetupOptions(key="-", base_url="no address/"), "server's address"),
        (SetupOptions(key="-", provider="anthropic", keep_key="env"), "--keep-key"),
    ],
)
def test_contradictory_options_are_refused(machine: Machine, options: SetupOptions, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words) as refused:
        machine.set_up(options, key=KEY)
    assert KEY not in str(refused.value)
    assert machine.config == ""


def test_impossible_address_or_key_is_asked_again(machine: Machine) -> None:
    typed_key = "sk-made-up-0123456789"
    address = [("address", typed_key), ("address", "no address/"), ("address", machine.server.url)]
    key = [("Its key", "two words"), ("Its key", "http://127.0.0.1:1/v1"), ("Its key", "kéy"), ("Its key", KEY)]
    person = Person([("Which model should", "own that speaks"), *address, *key, ("Which model?", "small-1"), *REST])
    assert machine.set_up(person=person).ok
    assert "looks like a key" in "".join(person.heard)
    assert typed_key not in "".join(person.heard)
    with pytest.raises(InvalidRequest, match="standard input"):
        machine.set_up(SetupOptions(key="-", base_url=machine.server.url), key="two words")


def test_empty_address_or_key_returns_to_the_choice(machine: Machine) -> None:
    """Choosing the wrong line used to leave no way back but quitting the setup."""
    lost = [("Which model should", "own that speaks"), ("address", "no address/"), ("address", "")]
    keyless = [("Which model should", "enter a key"), ("Which provider", "Anthropic"), ("The key", "")]
    person = Person([*lost, *keyless, ("Which model should", "Not now"), *REST])
    machine.set_up(person=person)
    assert person.script == []


def test_untested_model_is_saved_on_request(machine: Machine) -> None:
    assert machine.set_up(SetupOptions(model="anthropic/some", key="env:LATER", test=False)).ok
    assert 'api_key = "env:LATER"' in machine.config
    assert not machine.server.requests


def test_broken_reference_is_a_failure_with_a_reason(machine: Machine) -> None:
    machine.patch.setenv("ANTHROPIC_BASE_URL", machine.server.root)
    report = machine.set_up(SetupOptions(model="anthropic/some", key="env:NOBODY"))
    assert "NOBODY is not set" in report.outcomes[0].told
    assert machine.config == ""


def test_server_from_the_environment_is_saved_with_its_address(machine: Machine) -> None:
    machine.patch.setenv("OPENAI_BASE_URL", machine.server.url)
    machine.patch.setenv("OPENAI_API_KEY", KEY)
    assert machine.set_up(SetupOptions(model="small-1", keep_key="file")).ok
    machine.patch.delenv("OPENAI_BASE_URL")
    machine.patch.delenv("OPENAI_API_KEY")
    assert machine.set_up().ok
    assert machine.server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


KEYRING = """
import json, os, pathlib
FILE = pathlib.Path(os.environ["HOME"]) / "keyring.json"
def _read():
    return json.loads(FILE.read_text()) if FILE.exists() else {}
def set_password(service, user, password):
    FILE.write_text(json.dumps({**_read(), f"{service}/{user}": password}))
def get_password(service, user):
    return _read().get(f"{service}/{user}")
"""


@pytest.fixture
def keyring(machine: Machine) -> Iterator[None]:
    """The part of the extra's package that is used."""
    package = machine.root / "packages" / "keyring"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(KEYRING)
    (package / "errors.py").write_text("class KeyringError(Exception): ...\n")
    machine.patch.syspath_prepend(str(package.parent))
    yield
    for name in ("keyring", "keyring.errors"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("keyring")
def test_key_can_be_kept_in_the_keyring(anthropic: Machine) -> None:
    person = Person(
        [("Which model", "enter a key"), ("Which provider", "Anthropic"), ("The key", KEY), ("kept", "keyring"), *REST]
    )
    assert anthropic.set_up(person=person).ok
    assert 'api_key = "keyring:hob/model.providers.anthropic.api_key"' in anthropic.config
    assert anthropic.secrets == {}
    assert anthropic.set_up().ok
    assert anthropic.server.requests[-1].headers["x-api-key"] == KEY


def test_unreachable_server_is_reported_before_a_model_is_chosen(machine: Machine) -> None:
    nobody = "http://127.0.0.1:1/v1"
    person = Person(
        [
            ("Which model should", "own that speaks"),
            *[("address", nobody), ("Its key", ""), ("address", machine.server.url), ("Its key", "")],
            *[("Which model?", "small-1"), *REST],
        ]
    )
    report = machine.set_up(person=person)
    assert (report.ok, person.script) == (True, [])
    assert any("127.0.0.1:1 cannot be reached" in line for line in person.heard)


def test_unreachable_configured_server_is_reported_without_dialogue(machine: Machine) -> None:
    machine.patch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    machine.patch.setenv("OPENAI_API_KEY", "x")
    report = machine.set_up()
    (failed,) = [outcome for outcome in report.outcomes if outcome.step == "model"]
    assert failed.status is StepStatus.FAILED
    assert "cannot be reached" in failed.told
    assert "OPENAI_API_KEY" not in failed.next
    mapping = SetupOptions(base_url="http://127.0.0.1:1/v1")
    assert "cannot be reached" in machine.set_up(mapping).outcomes[0].told
