"""Known secrets are masked in every form, at once or in pieces, and nothing else is touched."""

import base64
import html
import json
import logging
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from hob.core.errors import NotConfigured
from hob.core.settings import Secret
from hob.guard.screening.masking.known_secrets import KnownSecrets, is_secret_name, readable_values, values_in
from hob.guard.screening.masking.logs import MaskingFormatter, mask_personal
from hob.guard.screening.masking.mask import MASKED, Mask, is_maskable

KEY = 'sk-ant-api03-Zq8/Lw+2m"x\\Ktü&<7Vb'
MASK = Mask({"key": KEY})


def encoded(text: str, before: str = "", after: str = "") -> str:
    return base64.b64encode(f"{before}{text}{after}".encode()).decode()


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        json.dumps(KEY),
        json.dumps(KEY, ensure_ascii=False),
        json.dumps({"arguments": json.dumps({"key": KEY})}),
        quote(KEY),
        quote(KEY, safe=""),
        re.sub("%..", lambda code: code[0].lower(), quote_plus(KEY)),
        html.escape(KEY),
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
        encoded(KEY),
        encoded(KEY, "user:"),
        encoded(KEY, "me:", "\n"),
        base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    ],
)
def test_secret_is_masked_in_every_form(form: str) -> None:
    masked = MASK(f"before {form} after")
    assert MASKED in masked
    middle = len(form) // 2
    assert form[middle - 4 : middle + 4] not in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


WRITTEN_BY = [
    *("base64", "base64 -w20", "base32", "fold -w 10", "fold -w 30 | cat -n", "base64 | sed 's/^/  /'"),
    *(
        "xxd",
        "xxd -p",
        "xxd -p -u",
        "xxd -g1",
        "xxd -i",
        "hexdump",
        "hexdump -C",
        "hexdump -o",
        "iconv -t utf-16le | xxd",
    ),
    *("od", "od -x", "od -c", "od -b", "od -An -c", "od -An -tx1", "od -A x -t x1z", "od -t x4", "iconv -t utf-16"),
]


@pytest.mark.parametrize("before", ["", "X=1\nKEY=", "abc" * 20])
@pytest.mark.parametrize("command", WRITTEN_BY)
def test_secret_is_masked_in_output_of_dump_programs(command: str, before: str) -> None:
    if any(shutil.which(part.split()[0]) is None for part in command.split("|")):
        pytest.skip("not installed here")
    long_key = f"sk-ant-api03-{'Zq8Lw2mKt7Vb31hhYx0'}-{'PqRs9TuVwabcDEF_ghi' * 4}"
    data = f"{before}{long_key}\nA second line.\n".encode()
    written = subprocess.run(["sh", "-c", command], input=data, capture_output=True, check=True).stdout
    shown = Mask({"key": long_key})(f"It says:\n{written.decode('latin-1')}\nSo far.")
    assert MASKED in shown
    assert shown.startswith("It says:\n")
    assert shown.endswith("So far.")
    plain = re.sub(r"\s", "", shown)
    middle = base64.b64encode(long_key.encode()[18:60]).decode().rstrip("=")
    assert not any(each in plain for each in (long_key[13:40], long_key[40:60], long_key.encode()[20:40].hex(), middle))


@pytest.mark.parametrize(
    "each",
    ["\x1b[31m{}\x1b[0m", "{}\u200b", "{}\xad", "{}\0", "%{:02x}", "&#{:d};", "&#x{:X};", "\\x{:02x}", "\\u{:04x}"],
)
def test_secret_is_masked_with_every_character_escaped(each: str) -> None:
    key = "sk-ant-api03-Zq8Lw2mKt7Vb31"
    signs = (each.format(ord(sign) if ":" in each else sign) for sign in key)
    assert re.fullmatch(
        rf"It is (\x1b\[31m)?{re.escape(MASKED)}[^a-zA-Z]*m?, so\.", Mask({"k": key})(f"It is {''.join(signs)}, so.")
    )


def test_base64_with_line_ends_is_masked_in_json_too() -> None:
    key = "sk-ant-api03-Zq8Lw2mKt7Vb31" * 5
    text = json.dumps({"content": base64.encodebytes(key.encode()).decode()})
    assert json.loads(Mask({"k": key})(text))["content"].startswith(MASKED)
    assert MASKED in Mask({"k": key})(json.dumps(text))


def test_lines_words_and_dumps_without_secrets_are_unchanged() -> None:
    dump = subprocess.run(["od", "-c", __file__], capture_output=True, check=True).stdout.decode()
    for text in (dump, Path(__file__).read_text(), "50 % off &#8364; \\x41\nsk-ant\n-api03-\nZq8"):
        assert MASK(text) is text


def test_masked_json_is_still_json() -> None:
    text = json.dumps({"a": KEY, "b": [f"x{KEY}y"]})
    assert json.loads(MASK(text)) == {"a": MASKED, "b": [f"x{MASKED}y"]}


def test_each_line_of_a_key_block_is_a_secret() -> None:
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
    block = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    mask = Mask({"tls": block})
    assert mask(f"cat: {block}!") == f"cat: {MASKED}!"
    assert mask("> BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj") == f"> {MASKED}"


def test_text_without_secrets_is_the_same_object() -> None:
    text = "sk-ant-api03-something else entirely, as documentation has it"
    assert MASK(text) is text
    assert Mask({})(text) is text


@pytest.mark.parametrize("value", ["", "1234", "lm-studio", "ollama", "password", "********", "Sesame", "not-needed"])
def test_value_like_an_ordinary_word_is_not_masked(value: str) -> None:
    assert not is_maskable(value)
    assert not Mask({"model.api_key": value})


def test_adjacent_and_nested_secrets_are_masked() -> None:
    mask = Mask({"a": "abcd1234efgh", "b": "1234efgh5678", "c": "efgh"})
    assert mask("abcd1234efghabcd1234efgh") == MASKED * 2
    assert mask("-abcd1234efgh5678-") == f"-{MASKED}-"


def test_stream_holds_back_only_a_possible_beginning() -> None:
    stream = Mask({"key": "tok-12345678"}).stream()
    assert stream.feed("hello to") == "hello "
    assert stream.feed("day, tok-") == "today, "
    assert stream.feed("1234") == ""
    assert stream.feed("5678.") == f"{MASKED}."
    assert stream.feed("tok-12") == ""
    assert stream.finish() == "tok-12"


def test_new_secret_applies_at_once_and_a_rotated_key_stays_masked() -> None:
    known = KnownSecrets({"key": "first-key-0001"})
    known.learn({"key": "second-key-0002", "empty": ""})
    known.learn({"key": "second-key-0002"})
    assert known("first-key-0001 second-key-0002") == f"{MASKED} {MASKED}"
    assert "".join((known.stream().feed("second-key-0002"),)) == MASKED


def test_long_clean_text_is_searched_again_for_new_secrets() -> None:
    known, text = KnownSecrets({"key": "first-key-0001"}), f"{'x ' * 10_000}second-key-0002"
    assert known(text) is known(text) is text
    known.learn({"key": "second-key-0002"})
    assert known(text).endswith(f"x {MASKED}")


def test_only_references_without_prompts_are_resolved() -> None:
    def ask() -> str:
        raise AssertionError("a keyring was opened")

    def fail() -> str:
        raise NotConfigured("no such variable")

    secrets = [("a", Secret.of("value-0001")), ("b", Secret(ask, "keyring:x/y")), ("c", Secret(fail, "env:NO"))]
    assert readable_values(secrets) == {"a": "value-0001"}
    with pytest.raises(AssertionError):
        readable_values(secrets, ask=True)


def test_secret_variables_are_recognised_by_name() -> None:
    secret = ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD_TEST", "DB_PASSWORD", "GH_PAT")
    plain = ("PATH", "SSH_AUTH_SOCK", "TOKEN_URL", "KEY_ID", "AWS_ACCESS_KEY_ID", "PUBLIC_KEY", "MONKEY", "KEY_FILE")
    assert [name for name in secret if not is_secret_name(name)] == ["PGPASSWORD_TEST"]
    assert [name for name in plain if is_secret_name(name)] == []
    assert values_in({"A_TOKEN": "x", "B_TOKEN": "", "HOME": "/"}) == {"A_TOKEN": "x"}


def test_log_line_contains_no_secret_even_in_a_traceback() -> None:
    formatter = MaskingFormatter(logging.Formatter("%(levelname)s %(message)s"), MASK)
    try:
        raise RuntimeError(f"401 for {KEY}")
    except RuntimeError as error:
        info = (type(error), error, error.__traceback__)
        record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "call of %s for %s", (KEY, "jo@example.org"), info)
    line = formatter.format(record)
    assert line.startswith(f"ERROR call of {MASKED} for [email removed]")
    assert KEY not in line


def test_personal_data_is_masked_only_on_request() -> None:
    text = "Call Jo, jo@example.org, card 4111 1111 1111 1111"
    assert mask_personal(text) == "Call Jo, [email removed], card [card removed]"
    assert MASK(text) == text
