"""Secrets are resolved on demand and never shown."""

import json
import os
import subprocess
import sys
import time
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.config import secrets
from hob.config.loading import Config, load_config
from hob.config.problems import ConfigInvalid
from hob.core.errors import NotConfigured
from hob.core.settings import Secret, setting


@dataclass(frozen=True, slots=True)
class Api:
    """The API."""

    token: Secret | None = setting(None, "Token.")
    keys: dict[str, Secret] = setting({}, "Keys.")
    more: list[Secret] = setting([], "More.")
    count: int = setting(1, "Count.")


SECTIONS: Mapping[str, type] = {"api": Api}


def load(home: Path, token: str | None = None, environ: Mapping[str, str] | None = None, text: str = "") -> Config:
    if token is not None:
        text = f"[api]\ntoken = {json.dumps(token)}\n"
    (home / "config.toml").touch(mode=0o600)
    (home / "config.toml").write_text(text)
    return load_config(SECTIONS, home=home, environ=environ or {"PATH": os.environ["PATH"]})


def token_of(config: Config) -> Secret:
    token = config[Api].token
    assert token is not None
    return token


def test_variable_is_read_on_demand(tmp_path: Path) -> None:
    environ: dict[str, str] = {"X": "1"}
    token = token_of(load(tmp_path, "env:KEY", environ))
    with pytest.raises(NotConfigured, match=r"^api.token: the variable KEY is not set$"):
        token.reveal()
    environ["KEY"] = " s3cret\n"
    assert token.reveal() == "s3cret"


def test_file_beside_the_settings_is_read(tmp_path: Path) -> None:
    token = token_of(load(tmp_path, "file:secrets/token"))
    with pytest.raises(NotConfigured, match=r"api.token: the file .*/secrets/token cannot be read: No such file"):
        token.reveal()
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/token").write_text("s3cret\n")
    assert token.reveal() == "s3cret"


@pytest.mark.parametrize(("data", "reason"), [(b"", "empty secret"), (b"\xff", "not UTF-8"), (b"a" * 70_000, "larger")])
def test_file_without_a_secret_is_reported(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "token").write_bytes(data)
    with pytest.raises(NotConfigured, match=reason):
        token_of(load(tmp_path, f"file:{tmp_path}/token")).reveal()


def test_command_runs_without_a_shell_and_its_first_line_counts(tmp_path: Path) -> None:
    program = "import sys; print(sys.argv[1]); print('user: ann')"
    token = token_of(load(tmp_path, f'command:{sys.executable} -c "{program}" "$HOME; s3cret"'))
    assert token.reveal() == "$HOME; s3cret"


def test_command_result_is_cached_until_forgotten(tmp_path: Path) -> None:
    token = token_of(load(tmp_path, f"command:sh -c 'echo x >> {tmp_path}/runs; wc -l < {tmp_path}/runs'"))
    assert (token.reveal(), token.reveal()) == ("1", "1")
    token.forget()
    assert token.reveal() == "2"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("sh -c 'echo s3cret; exit 3'", "api.token: the command sh failed with exit status 3"),
        ("/nowhere/pass show x", "api.token: the command /nowhere/pass cannot be started: No such file or directory"),
        ("true", "api.token: the reference leads to an empty secret"),
    ],
)
def test_failing_command_is_reported_without_its_output(tmp_path: Path, command: str, reason: str) -> None:
    with pytest.raises(NotConfigured) as caught:
        token_of(load(tmp_path, f"command:{command}")).reveal()
    assert str(caught.value) == reason


def test_hanging_command_is_killed_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "COMMAND_SECONDS", 0.3)
    token = token_of(load(tmp_path, f"command:sh -c 'sleep 60 & echo $! > {tmp_path}/child; wait'"))
    began = time.monotonic()
    with pytest.raises(NotConfigured, match=r"the command sh gave no secret within 0.3 s"):
        token.reveal()
    assert time.monotonic() - began < 5
    child = int((tmp_path / "child").read_text())
    assert subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True, text=True).stdout[:1] in (
        "",
        "Z",
    )


def test_keyring_without_the_extra_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(NotConfigured, match=r"api.token: .*pip install .*keyring"):
        token_of(load(tmp_path, "keyring:hob/ann")).reveal()


def test_keyring_is_queried_by_service_and_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring, errors = types.ModuleType("keyring"), types.ModuleType("keyring.errors")
    vars(errors)["KeyringError"] = type("KeyringError", (Exception,), {})
    vars(ring)["get_password"] = lambda service, user: "s3cret" if (service, user) == ("a/b", "ann") else None
    monkeypatch.setitem(sys.modules, "keyring", ring)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    assert token_of(load(tmp_path, "keyring:a/b/ann")).reveal() == "s3cret"
    with pytest.raises(NotConfigured, match="the keyring has nothing for hob/bob"):
        token_of(load(tmp_path, "keyring:hob/bob")).reveal()


@pytest.mark.parametrize("reference", ["env:", "env:sk-123", "file:", "keyring:x", "command:", "command:a 'b"])
def test_malformed_reference_is_a_problem_at_once(tmp_path: Path, reference: str) -> None:
    with pytest.raises(ConfigInvalid, match=r"api\.token") as caught:
        load(tmp_path, reference)
    assert "sk-123" not in str(caught.value)


def test_substituted_variable_never_becomes_a_reference(tmp_path: Path) -> None:
    token = token_of(load(tmp_path, "${KEY}", {"KEY": "command:touch /tmp/x"}))
    assert (token.reveal(), token.reference) == ("command:touch /tmp/x", "")
    assert token_of(load(tmp_path, "file:${DIR}/k", {"DIR": "/run"})).reference == "file:/run/k"


def test_literal_secret_is_noted_with_a_warning_if_others_may_read_it(tmp_path: Path) -> None:
    (note,) = load(tmp_path, "s3cret").notes
    assert (note.key, note.place and note.place.line) == ("api.token", 2)
    assert load(tmp_path, "s3cret").warnings == ()
    (tmp_path / "config.toml").chmod(0o644)
    (warning,) = load(tmp_path, "s3cret").warnings
    assert f"chmod 600 {tmp_path}/config.toml" in str(warning)


@pytest.mark.parametrize("token", ["env:KEY", "${KEY}"])
def test_referenced_secret_is_not_noted(tmp_path: Path, token: str) -> None:
    (tmp_path / "config.toml").touch(mode=0o644)
    config = load(tmp_path, token, {"KEY": "s3cret"})
    assert (config.notes, config.warnings) == ((), ())


def test_secrets_in_lists_and_tables_are_found(tmp_path: Path) -> None:
    config = load(tmp_path, text='[api]\ntoken = "a"\nmore = ["b"]\n[api.keys]\n"x.y" = "c"\n')
    assert [(key, secret.reveal()) for key, secret in config.secrets()] == [
        ("api.token", "a"),
        ('api.keys."x.y"', "c"),
        ("api.more[0]", "b"),
    ]


@given(st.text("abcdefgh", min_size=12, max_size=20))
def test_no_message_or_representation_contains_a_secret(tmp_path: Path, secret: str) -> None:
    quoted = json.dumps(secret)
    config = load(tmp_path, text=f"[api]\ntoken = {quoted}\nmore = [{quoted}]\nkeys = {{ a = {quoted} }}\n")
    assert secret not in f"{config!r} {config[Api]!r} {config[Api].token} {config.notes}"
    for wrong in (
        f"keys = {quoted}",
        f"more = {quoted}",
        f"more = [[{quoted}]]",
        f"keys.a = [{quoted}]",
        f"tokn = {quoted}",
    ):
        with pytest.raises(ConfigInvalid) as caught:
            load(tmp_path, text=f"[api]\n{wrong}\n")
        assert secret not in f"{caught.value!r} {caught.value}"
    with pytest.raises(ConfigInvalid) as caught:
        load(tmp_path, text='[api]\ncount = "${KEY}"\n', environ={"KEY": secret})
    assert secret not in str(caught.value)


def test_secret_in_a_table_of_tables_is_found(tmp_path: Path) -> None:
    @dataclass(frozen=True, slots=True)
    class Inner:
        key: Secret | None = setting(None, "A key.")
        more: list[Secret] = setting([], "More keys.")

    @dataclass(frozen=True, slots=True)
    class Outer:
        named: dict[str, Inner] = setting({}, "By name.")

    (tmp_path / "config.toml").write_text('[x.named.a]\nkey = "env:K1"\nmore = ["env:K2"]\n')
    config = load_config({"x": Outer}, home=tmp_path, environ={})
    assert [name for name, _ in config.secrets()] == ["x.named.a.key", "x.named.a.more[0]"]
