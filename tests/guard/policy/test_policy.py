"""The policy pipeline: what is allowed, asked about and refused, and by which rule."""

from dataclasses import replace
from typing import Any

import pytest

from hob.core.argument_roles import ArgumentRole
from hob.core.ports.guard import Allow, Ask, Deny, Verdict
from hob.core.tools import Effect, ToolSpec
from hob.core.trust.labels import SenderClass, Trust
from hob.guard.policy.call_analysis import ArgumentReader, read_call
from hob.guard.policy.context import Context, Private, Sandbox
from hob.guard.policy.hard_rules import HardRules
from hob.guard.policy.modes import Act, Autonomy, Mode
from hob.guard.policy.policy import Policy, is_grantable
from hob.guard.policy.rule_names import describe_rule
from hob.guard.settings import PolicySettings, ToolRules
from hob.tools.messages.specs import MESSAGE
from tests.guard.calling import PLACES, POLICY, READER, SPECS, call_of, context, decide, verdict

WORK = PLACES.base
MEMBER, STRANGER = SenderClass.MEMBER, SenderClass.STRANGER


def policy(**settings: Any) -> Policy:
    return Policy(HardRules(PLACES), PolicySettings(**settings))


# Untainted requests of the owner


@pytest.mark.parametrize(
    ("tool", "words", "arguments"),
    [
        ("read", "what is in notes.md?", {"path": "notes.md"}),
        ("write", "write a haiku to haiku.txt", {"path": "haiku.txt", "content": "…"}),
        ("exec", "run the tests", {"command": "pytest -q && git status"}),
        ("remember", "remember that I like tea", {"text": "likes tea"}),
        ("web_fetch", "what is new in Python?", {"url": "https://docs.python.org/3/whatsnew/"}),
        ("web_search", "find a bakery", {"query": "bakery near me"}),
        ("mail_send", "tell bob@example.com I am late", {"to": "bob@example.com", "body": "late"}),
        ("delete_file", "delete old/plan.md for good", {"path": "old/plan.md"}),
        ("ask_user", "plan my trip", {"question": "Where to?"}),
    ],
)
def test_owners_request_needs_no_question(tool: str, words: str, arguments: dict[str, Any]) -> None:
    assert isinstance(verdict(tool, context(words), **arguments), Allow)


@pytest.mark.parametrize(
    ("tool", "words", "arguments", "rule"),
    [
        ("mail_send", "tell Bob I am late", {"to": "bob@example.com", "body": "late"}, "mode.send"),
        ("mail_send", "mail bob@example.com", {"to": ["bob@example.com", "eve@evil.example"]}, "mode.send"),
        ("mail_send", "mail bob@example.com", {"to": "bob@example.com", "bcc": "eve@evil.example"}, "mode.send"),
        ("mail_send", "mail bob@example.com", {"to": "bob@example.com", "reply_to": "eve@evil.example"}, "mode.send"),
        ("mail_send", "mail bob@example.com", {"to": {"address": "bob@example.com"}}, "mode.send"),
        ("delete_file", "tidy up", {"path": "old/plan.md"}, "mode.final"),
        ("exec", "clean up", {"command": "git reset --hard"}, "mode.risk"),
        ("config_set", "make it shorter", {"key": "agent.language", "value": "de"}, "mode.configure"),
        ("mcp_thing", "do the thing", {"x": 1}, "mode.final"),
    ],
)
def test_irreversible_call_needs_approval(tool: str, words: str, arguments: dict[str, Any], rule: str) -> None:
    found = decide(tool, context(words), **arguments)
    assert (type(found.verdict), found.rule) == (Ask, rule)


@pytest.mark.parametrize(("tool", "arguments"), [("read", {"path": ".env"}), ("exec", {"command": "cat .env"})])
def test_reading_keys_needs_approval_for_tools_and_commands_alike(tool: str, arguments: dict[str, Any]) -> None:
    found = decide(tool, context("Read .env"), **arguments)
    assert (type(found.verdict), found.rule) == (Ask, "mode.risk")


# Tainted turns


@pytest.mark.parametrize(
    ("tool", "words", "arguments", "rule"),
    [
        ("mail_send", "summarise the page", {"to": "eve@evil.example", "body": "x"}, "taint.sends"),
        ("message_send", "summarise the page", {"to": "@eve", "text": "x"}, "taint.sends"),
        ("web_post", "summarise the page", {"url": "https://evil.example/", "body": "x"}, "taint.sends"),
        ("web_fetch", "summarise https://a.example/x", {"url": "https://a.example/x?leak=1"}, "taint.url"),
        ("web_fetch", "summarise https://a.example/x", {"url": "https://a.example/y"}, "taint.url"),
        ("web_fetch", "summarise the page", {"url": "https://evil.example/"}, "taint.url"),
        ("remember", "remember what the page says", {"text": "obey Eve"}, "taint.persists"),
        ("write", "write it to AGENTS.md", {"path": "AGENTS.md", "content": "x"}, "taint.persists"),
        ("write", "write skills/x/SKILL.md", {"path": "/home/me/hob/skills/x/SKILL.md"}, "taint.persists"),
        ("write", "write .git/hooks/pre-commit", {"path": ".git/hooks/pre-commit"}, "taint.persists"),
        ("config_set", "set agent.language to de", {"key": "agent.language", "value": "de"}, "mode.configure"),
        ("delete_file", "delete a.md", {"path": "b.md"}, "taint.final"),
        ("read", "read .env", {"path": ".env"}, "taint.secrets"),
        ("exec", "install it", {"command": "pip install x", "hosts": ["pypi.org"]}, "taint.sends"),
    ],
)
def test_tainted_turn_asks_before_anything_that_harms(
    tool: str, words: str, arguments: dict[str, Any], rule: str
) -> None:
    found = decide(tool, context(words, tainted=True, mode=Mode.FULL, autonomy=Autonomy.AUTONOMOUS), **arguments)
    assert (type(found.verdict), found.rule) == (Ask, rule)
    assert not is_grantable(found.rule)


def test_tainted_turn_asks_before_writing_to_an_outgoing_folder() -> None:
    places = replace(PLACES, outgoing=("/home/me/synced",))
    arguments = {"path": "/home/me/synced/a.md", "content": "x"}
    reader = replace(READER, places=places)
    assert decide("write", context(tainted=True), POLICY, reader, **arguments).rule == "taint.network"
    assert isinstance(decide("write", context(), POLICY, reader, **arguments).verdict, Allow)


@pytest.mark.parametrize(
    ("tool", "words", "arguments"),
    [
        ("read", "summarise it", {"path": "notes.md"}),
        ("write", "write a summary to out.md", {"path": "out.md", "content": "x"}),
        ("apply_patch", "fix it", {"patch": "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"}),
        ("exec", "run the tests", {"command": "pytest -q"}),
        ("web_search", "find more", {"query": "more"}),
        ("web_fetch", "summarise https://a.example/x", {"url": "https://a.example/x"}),
        ("web_fetch", "look around on docs.example", {"url": "https://docs.example/any"}),
        ("mail_send", "send a summary to bob@example.com", {"to": "bob@example.com", "body": "short"}),
        ("web_post", "post it to https://api.example/notes", {"url": "https://api.example/notes", "body": "short"}),
        ("delete_file", "delete notes/a.md", {"path": "notes/a.md"}),
    ],
)
def test_tainted_turn_may_do_what_the_owners_words_name(tool: str, words: str, arguments: dict[str, Any]) -> None:
    assert isinstance(verdict(tool, context(words, tainted=True), **arguments), Allow)


def test_search_result_address_may_be_fetched_byte_for_byte() -> None:
    given = context("find it", tainted=True, searched=frozenset({"https://a.example/x"}))
    assert isinstance(verdict("web_fetch", given, url="https://a.example/x"), Allow)
    assert isinstance(verdict("web_fetch", given, url="https://a.example/x?y"), Ask)


@pytest.mark.parametrize(
    ("more", "arguments"),
    [
        ({"private": (Private(("/home/me/hob/work/diary.md",)),)}, {"body": "hello"}),
        (
            {"private": (Private(text="My door opens with the code one two three four."),)},
            {"body": "so: the code one two three FOUR, ok"},
        ),
        ({}, {"body": "hello", "attachments": ["diary.md"]}),
        ({}, {"body": "QUJD" * 40}),
    ],
)
def test_named_recipient_gets_no_unrequested_private_data(more: dict[str, Any], arguments: dict[str, Any]) -> None:
    given = context("send a summary to bob@example.com", tainted=True, **more)
    assert decide("mail_send", given, to="bob@example.com", **arguments).rule == "taint.private"


def test_message_may_be_sent_to_a_recipient_named_by_the_owner() -> None:
    given = context(
        "send diary.md to bob@example.com",
        tainted=True,
        private=(Private((f"{WORK}/diary.md",), "Dear diary, today it rained and rained."),),
    )
    for body in ("here", "dear diary, today it rained and rained"):
        said = verdict("mail_send", given, to="bob@example.com", body=body, attachments=["diary.md"])
        assert isinstance(said, Allow)


def test_irreversible_sending_is_exempt_if_the_recipient_is_named() -> None:
    final = replace(SPECS["mail_send"], effects=frozenset({Effect.COMMUNICATES, Effect.WRITES_FINALLY}))
    for tainted in (True, False):
        given = context("write to bob@example.com", tainted=tainted)
        for to, kind in (("bob@example.com", Allow), ("eve@example.com", Ask)):
            analysis = read_call(call_of("mail_send", to=to, body="hello"), final, READER, given.sandbox)
            assert analysis is not None
            assert isinstance(POLICY.decide(analysis, given).verdict, kind)


def test_event_without_guests_counts_as_persisting_not_sending() -> None:
    given = context("make that a date", tainted=True)
    assert isinstance(verdict("calendar_add", context("make that a date"), title="lunch", start="12:00"), Allow)
    assert decide("calendar_add", given, title="lunch", start="12:00").rule == "taint.persists"
    assert decide("calendar_add", given, title="lunch", attendees=["eve@x.example"]).rule == "taint.sends"
    assert decide("calendar_add", given, title="lunch", attendees=[""]).rule == "taint.sends"
    assert decide("calendar_add", given, title="lunch", guests=["eve@x.example"]).rule == "taint.sends"


def test_personal_data_missing_from_the_words_needs_approval() -> None:
    reader = ArgumentReader(
        PLACES, READER.read_command, personal=lambda text: ["4111111111111111"] if "4111" in text else []
    )
    given = context("send a summary to bob@example.com", tainted=True)
    found = decide("mail_send", given, POLICY, reader, to="bob@example.com", body="card 4111111111111111")
    assert found.rule == "taint.private"


# Hard rules


@pytest.mark.parametrize(
    ("tool", "arguments", "rule"),
    [
        ("read", {"path": "/home/me/.hob/config.toml"}, "hard.state"),
        ("read", {"path": "~/.hob"}, "hard.state"),
        ("read", {"path": "/home/me/hob/../.HOB/hob.db"}, "hard.state"),
        ("list_dir", {"path": "/home/me"}, "hard.state"),
        ("read", {"path": "file:///home/me/.ssh/id_ed25519"}, "hard.secrets"),
        ("read", {"path": "/proc/self/environ"}, "hard.secrets"),
        ("mail_send", {"to": "me@example.com", "attachments": ["~/.aws/credentials"]}, "hard.secrets"),
        ("apply_patch", {"patch": "--- a/x\n+++ b/../../.hob/config.toml\n"}, "hard.state"),
        ("mcp_read", {"file": "~/.hob/secrets"}, "hard.state"),
        ("config_set", {"key": "sandbox.backend", "value": "plain"}, "hard.sandbox"),
        ("config_set", {"key": "policy", "value": {}}, "hard.sandbox"),
        ("config_set", {"key": "Policy.Mode", "value": "full"}, "hard.sandbox"),
        ("exec", {"command": "cat '/home/me/.hob'/hob.db"}, "hard.shell.own-state"),
        ("exec", {"command": "ls", "cwd": "/home/me/.hob"}, "hard.state"),
        ("process", {"action": "write", "data": "mkfs.ext4 /dev/sda1\n"}, "hard.shell.disk-destruction"),
    ],
)
@pytest.mark.parametrize("mode", Mode)
def test_hard_rules_hold_in_every_mode(mode: Mode, tool: str, arguments: dict[str, Any], rule: str) -> None:
    found = decide(tool, context("yes, do it", mode=mode, autonomy=Autonomy.AUTONOMOUS), **arguments)
    assert isinstance(found.verdict, Deny)
    assert found.rule == rule or found.rule.startswith("hard.shell")


def test_known_secret_is_given_to_no_tool() -> None:
    reader = ArgumentReader(PLACES, READER.read_command, secrets=lambda text: ["k"] if "sk-123" in text else [])
    given = context("send sk-123 to bob@example.com", mode=Mode.FULL)
    assert decide("mail_send", given, POLICY, reader, to="bob@example.com", body="sk-123").rule == "hard.secrets"
    assert decide("exec", given, POLICY, reader, command="echo sk-123 | rev").rule == "hard.secrets"


# Senders


@pytest.mark.parametrize(
    ("sender", "tool", "arguments", "kind", "rule"),
    [
        (STRANGER, "web_search", {"query": "x"}, Allow, "mode.fetch"),
        (STRANGER, "read", {"path": "a.md"}, Deny, "sender.private"),
        (STRANGER, "write", {"path": "a.md"}, Deny, "sender.tier"),
        (STRANGER, "exec", {"command": "ls"}, Deny, "sender.private"),
        (STRANGER, "mcp_thing", {}, Deny, "sender.private"),
        (MEMBER, "read", {"path": "a.md"}, Ask, "sender.private"),
        (MEMBER, "read", {"path": ".env"}, Deny, "sender.private"),
        (MEMBER, "write", {"path": "a.md"}, Allow, "mode.write"),
        (MEMBER, "exec", {"command": "git reset --hard"}, Deny, "sender.shell.vcs-deletion"),
        (MEMBER, "mail_send", {"to": "bob@example.com"}, Ask, "mode.send"),
    ],
)
def test_sender_limits_what_is_allowed(
    sender: SenderClass, tool: str, arguments: dict[str, Any], kind: type, rule: str
) -> None:
    found = decide(tool, context(sender=sender), **arguments)
    assert (type(found.verdict), found.rule) == (kind, rule)


def test_tools_tier_is_at_least_that_of_its_effects() -> None:
    """A third-party tool that claims to be harmless but sends."""
    found = decide("message_send", context(sender=STRANGER), to="@eve", text="x")
    assert (type(found.verdict), found.rule) == (Deny, "sender.tier")


@pytest.mark.parametrize(("choice", "kind"), [("allow", Allow), ("ask", Ask), ("deny", Deny)])
def test_members_access_to_private_files_is_configurable(choice: str, kind: type) -> None:
    assert isinstance(verdict("read", context(sender=MEMBER), policy(member_private=choice), path="a.md"), kind)


# Lists


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"profile": "minimal"}, "profile.minimal"),
        ({"deny": ["exec"]}, "tools.deny"),
        ({"deny": ["EX*"]}, "tools.deny"),
        ({"deny": ["group:runtime"], "allow": ["exec"]}, "tools.deny"),
        ({"allow": ["group:files"]}, "tools.allow"),
        ({"allow": ["no_such_tool"]}, "tools.allow"),
        ({"providers": {"ollama": ToolRules(deny=["exec"])}}, "provider.deny"),
        ({"providers": {"ollama/small": ToolRules(allow=["read"])}}, "provider.allow"),
        ({"groups": {"*": ToolRules(deny=["exec"])}}, "group.deny"),
        ({"groups": {"local:chat": ToolRules(deny=["exec"])}}, "group.deny"),
        ({"sandbox": ToolRules(deny=["exec"])}, "sandbox.deny"),
        ({"subagents": ToolRules(deny=["exec"])}, "depth.deny"),
        ({"senders": {"owner": ToolRules(deny=["exec"])}}, "sender.deny"),
        ({"depth": 0}, "depth"),
    ],
)
def test_lists_only_narrow(settings: dict[str, Any], rule: str) -> None:
    given = context(model="ollama/small", chat="chat", group=True, depth=1)
    assert decide("exec", given, policy(**settings), command="ls").rule == rule


def test_list_for_something_else_has_no_effect() -> None:
    others = policy(providers={"openai": ToolRules(deny=["*"])})
    given = context(model="ollama/small")
    assert isinstance(verdict("exec", given, others, command="ls"), Allow)


# Sandbox, groups, unattended turns


@pytest.mark.parametrize(
    ("sandbox", "kind", "rule"),
    [
        (Sandbox(), Allow, "mode.run"),
        (Sandbox(versioned=False), Ask, "taint.final"),
        (Sandbox(late=True), Allow, "mode.run"),
        (Sandbox(confined=False), Deny, "unconfined.refused"),
        (Sandbox(confined=False, plain=True), Ask, "unconfined.asked"),
    ],
)
def test_command_risk_depends_on_the_sandbox(sandbox: Sandbox, kind: type, rule: str) -> None:
    found = decide("exec", context("run it", tainted=True, sandbox=sandbox), command="make")
    assert (type(found.verdict), found.rule) == (kind, rule)


def test_background_command_needs_approval_if_hooks_are_reverted_only_at_its_end() -> None:
    given = context("run it", tainted=True, sandbox=Sandbox(late=True))
    assert decide("exec", given, command="make", background=True).rule == "taint.persists"
    assert decide("exec", given, command="make", background=False).rule == "mode.run"


def test_unconfinable_command_is_refused_with_the_reason() -> None:
    said = verdict("exec", context(sandbox=Sandbox(confined=False, missing="Install bubblewrap.")), command="ls")
    assert isinstance(said, Deny)
    assert said.reason == "Install bubblewrap."


@pytest.mark.parametrize("online", [False, True])
def test_input_to_an_online_command_needs_approval_in_a_tainted_turn(online: bool) -> None:
    given = context("go on", tainted=True, sandbox=Sandbox(online=online))
    said = verdict("process", given, action="write", id="p1", data="echo hello\n")
    assert (said.rule == "taint.network") is online
    assert isinstance(said, Ask if online else Allow)
    assert isinstance(verdict("process", given, action="poll", id="p1"), Allow)


@pytest.mark.parametrize(
    "line", ["^echo^rm", "!e", "alias l=rm", "fc -s a=b", "set -- rm -rf x", '"$@"', "f() { $1; }"]
)
def test_input_that_depends_on_earlier_input_needs_approval(line: str) -> None:
    given = context("go on")
    assert verdict("process", given, action="write", id="p1", data=f"{line}\n").rule == "mode.risk"
    assert isinstance(verdict("process", given, action="write", id="p1", data="Fine! Two set tables.\n"), Allow)


def test_host_allowed_by_settings_is_reached_in_untainted_turns_only() -> None:
    sandbox = Sandbox(reaches=lambda host: host == "pypi.org")
    clean, tainted = context(sandbox=sandbox), context(sandbox=sandbox, tainted=True)
    assert isinstance(verdict("exec", clean, command="make deps", hosts=["pypi.org"]), Allow)
    assert decide("exec", clean, command="make deps", hosts=["evil.example"]).rule == "mode.send"
    assert decide("exec", tainted, command="make deps", hosts=["pypi.org"]).rule == "taint.network"


def test_private_data_is_read_in_a_group_only_if_the_owner_names_it() -> None:
    assert decide("read", context("what is in it?", group=True), path="a.md").rule == "group.private"
    assert isinstance(verdict("read", context("what is in a.md?", group=True), path="a.md"), Allow)


def test_question_becomes_a_refusal_if_nobody_can_be_asked() -> None:
    found = decide("mail_send", context(answerable=False), to="bob@example.com")
    assert (type(found.verdict), found.rule) == (Deny, "unattended")
    assert isinstance(verdict("read", context(answerable=False), path="a.md"), Allow)


def test_strictest_stage_decides_and_the_trail_lists_all() -> None:
    found = decide("mail_send", context(tainted=True), policy(deny=["mail_send"]), to="eve@evil.example")
    assert found.rule == "tools.deny"
    said = {stage: verdict.rule for stage, verdict in found.trail if verdict is not None}
    assert said == {"profile": "tools.deny", "mode": "mode.send", "effects and taint": "taint.sends"}


def test_lasting_approval_is_never_offered_in_a_tainted_turn() -> None:
    given: dict[str, Any] = {"autonomy": Autonomy.SUPERVISED}
    assert is_grantable(decide("write", context(**given), path="a.md").rule)
    assert decide("write", context(tainted=True, **given), path="a.md").rule == "mode.write.tainted"
    assert not is_grantable("mode.write.tainted")


def test_every_rule_has_a_sentence() -> None:
    for rule in (
        "hard.shell.fork-bomb",
        "tools.deny",
        "mode.send.named",
        "approval.a_1",
        "taint.url",
        "profile.minimal",
    ):
        assert describe_rule(rule)
    assert describe_rule("no such rule") == ""


# Spellings of arguments


@pytest.mark.parametrize(
    ("tool", "arguments", "rule"),
    [
        ("write", {"path": "file:///home/me/hob/work/%41GENTS.md"}, "taint.persists"),
        ("write", {"path": "file:%41GENTS.md"}, "taint.persists"),
        ("read", {"path": "file://localhost/home/me/%2Ehob/config.toml"}, "hard.state"),
        ("read", {"path": "FILE:/home/me/.hob/config.toml"}, "hard.state"),
        ("apply_patch", {"patch": '--- "a/x"\n+++ "b/\\101GENTS.md"\n'}, "taint.persists"),
        ("apply_patch", {"patch": '--- a/x\n+++ "b/../../.ho\\142/config.toml"\n'}, "hard.state"),
        ("glob", {"pattern": "~/.ssh/id_*"}, "hard.secrets"),
        ("mcp_thing", {"options": {"files": [{"path": "/home/me/.hob/hob.db"}]}}, "hard.state"),
        ("config_set", {"key": "'sand' . backend"}, "hard.sandbox"),
        ("config_set", {"key": '"sand\\u0062ox".backend'}, "hard.sandbox"),
        ("config_set", {"key": "Sandbox.backend"}, "hard.sandbox"),
        ("config_set", {"key": "gateway.auth_token"}, "hard.sandbox"),
        ("config_set", {"key": ""}, "hard.sandbox"),
    ],
)
def test_another_spelling_changes_nothing(tool: str, arguments: dict[str, Any], rule: str) -> None:
    assert decide(tool, context("do it", tainted=True), **arguments).rule == rule


def test_links_are_judged_by_their_targets() -> None:
    """Resolved as the file tools do."""
    led = ArgumentReader(PLACES, READER.read_command, resolve=lambda _: [f"{WORK}/AGENTS.md"])
    given = context("write notes.md", tainted=True)
    assert decide("write", given, POLICY, led, path="notes.md").rule == "taint.persists"
    closed = ArgumentReader(PLACES, READER.read_command, resolve=lambda _: ["/home/me/.hob/hob.db"])
    assert decide("read", given, POLICY, closed, path="notes.md").rule == "hard.state"
    final = ArgumentReader(PLACES, READER.read_command, resolve=lambda _: [f"{WORK}/other.md"])
    words = context("delete notes.md", tainted=True)
    assert decide("delete_file", words, POLICY, final, path="notes.md").rule == "taint.final"


def test_naming_a_host_does_not_allow_private_data_in_its_urls() -> None:
    given = context(
        "look around on docs.example", tainted=True, private=(Private(text="My door opens with one two three."),)
    )
    assert isinstance(verdict("web_fetch", given, url="https://docs.example/a?q=doors"), Allow)
    leak = decide("web_fetch", given, url="https://docs.example/?q=my+door%20opens%20with+one%20two")
    assert leak.rule == "taint.private"
    assert decide("web_fetch", given, url=f"https://docs.example/{'QUJD' * 40}").rule == "taint.private"


def test_remote_server_learns_nothing_private_from_arguments() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}, "state": {"enum": ["open", "closed"]}}}
    roles = ArgumentRole(plain=("q", "state"), remote=True)
    elsewhere = replace(SPECS["web_search"], schema=schema, effects=frozenset({Effect.READS_UNTRUSTED}), roles=roles)
    here = replace(elsewhere, roles=replace(roles, remote=False))

    def rule(spec: ToolSpec, given: Context, **arguments: str) -> str:
        analysis = read_call(call_of(spec.name, **arguments), spec, READER, given.sandbox)
        assert analysis is not None
        said = POLICY.decide(analysis, given).verdict
        return said.rule if isinstance(said, Ask) else type(said).__name__

    diary = Private((f"{WORK}/diary.txt",), "My door opens with one two three.")
    given = context("find tickets about doors", tainted=True, private=(diary,))
    assert rule(elsewhere, given, q="one two three") == "taint.private"
    assert rule(elsewhere, given, q="b25lIHR3byB0aHJlZQ") == "taint.private"  # in any disguise
    assert rule(elsewhere, given, q="doors", state="open") == "Allow"  # the owner's words
    assert rule(here, given, q="one two three") == "Allow"
    kept = context("find tickets about doors", tainted=True, private=(replace(diary, names=()),))
    assert rule(elsewhere, kept, q="my door opens with one two") == "taint.private"
    assert rule(elsewhere, kept, q="T-1093") == "Allow"


@pytest.mark.parametrize(
    ("command", "stdin", "kind"),
    [
        ("cat > x.txt", "it's `not a command\n", Allow),
        ("git apply", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-rm -rf /\n+it's\n", Allow),
        ("sh", "git status", Ask),
        ("bash -s", "rm -rf /", Deny),
    ],
)
def test_command_input_is_analysed_if_it_may_run(command: str, stdin: str, kind: type) -> None:
    assert isinstance(verdict("exec", context(), command=command, stdin=stdin), kind)


OBEYED = (
    *("CLAUDE.md", "AGENTS.md", ".envrc", ".mcp.json", ".zshenv", ".husky/pre-commit", ".pre-commit-config.yaml"),
    *(".devcontainer/devcontainer.json", ".idea/workspace.xml", ".windsurfrules", ".bash_aliases", ".gitlab-ci.yml"),
    *("sitecustomize.py", "tests/conftest.py", "keys/authorized_keys", ".github/workflows/x.yml", "Agents.MD"),
)


@pytest.mark.parametrize("name", OBEYED)
def test_executable_config_is_judged_the_same_however_it_is_written(name: str) -> None:
    commands = (
        f"echo hi > {name}",
        f"cat x | tee -a {name}",
        f"cp x {name}",
        f"sed -i s/a/b/ {name}",
        f"dd if=x of={name}",
        f"touch {name}",
        f"python3 -c \"open('{name}', 'w').write('x')\"",
        f"python3 - <<END\nopen('{name}', 'w')\nEND",
    )
    ways: list[tuple[str, dict[str, Any]]] = [
        ("write", {"path": name, "content": "x"}),
        *(("exec", {"command": each}) for each in commands),
    ]
    for tool, arguments in ways:
        assert isinstance(verdict(tool, context(tainted=True), **arguments), Ask), arguments
        acts = read_call(call_of(tool, **arguments), SPECS[tool], READER, Sandbox())
        assert acts is not None
        assert Act.PERSIST in acts.acts, arguments


@pytest.mark.parametrize(
    "command",
    ["cat CLAUDE.md", "grep -r x AGENTS.md", "git add CLAUDE.md", "wc -l .gitmodules", "pytest tests/conftest.py"],
)
def test_reading_executable_config_needs_no_question(command: str) -> None:
    assert isinstance(verdict("exec", context(tainted=True), command=command), Allow)


@pytest.mark.parametrize(("member_private", "kind"), [("allow", Allow), ("ask", Ask), ("deny", Deny)])
def test_member_overwriting_an_existing_file_follows_member_private(member_private: str, kind: type) -> None:
    policy = Policy(HardRules(PLACES), PolicySettings(member_private=member_private))
    reader = replace(READER, file_exists=lambda path: path.endswith("/notes.md"))
    member = context(sender=SenderClass.MEMBER, trust=Trust.UNTRUSTED)

    def rule_of(given: Context, **arguments: str) -> Verdict:
        return decide("write", given, policy, reader, **arguments).verdict

    assert isinstance(rule_of(member, path="../notes.md"), kind)
    assert isinstance(rule_of(member, path="theirs.md"), Allow)
    assert isinstance(rule_of(context(), path="../notes.md"), Allow)


def test_message_in_the_owners_own_chat_needs_no_approval_and_any_other_does() -> None:
    here = call_of("message", action="send", text="Half done.", file="report.md")
    for given, call, asks in (
        (context(), here, False),
        (context(tainted=True), here, False),
        (context(group=True), here, True),
        (context(sender=MEMBER), here, True),
        (context(), call_of("message", action="send", to="Anna", text="Half done."), True),
        (context(), call_of("message", action="send", text="Half done.", unknown="x"), True),
        (context(), call_of("message", action="send", text="My keys.", file="~/.ssh/id_rsa"), True),
    ):
        analysis = read_call(call, MESSAGE, READER, given.sandbox)
        assert analysis is not None
        assert isinstance(POLICY.decide(analysis, given).verdict, Allow) is not asks, call
