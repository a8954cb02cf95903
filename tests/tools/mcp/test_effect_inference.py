"""Inference of effects and roles from names, arguments and hints."""

import pytest

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import ALL_EFFECTS, Effect
from hob.tools.mcp.effect_inference import guess_effects, guess_roles

READS = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
SENDS = frozenset({Effect.COMMUNICATES, Effect.WRITES_FINALLY})
STORES = frozenset({Effect.WRITES_FINALLY})
INVITES = frozenset({Effect.COMMUNICATES, Effect.WRITES})
SAYS_IT_READS = {"readOnlyHint": True}


def guess(tool: str, hints: dict[str, bool] | None = None) -> frozenset[Effect]:
    """Infer the effects of a tool written as a call: `execute_query(sql)`."""
    name, _, arguments = tool.rstrip(")").partition("(")
    properties = {each.strip(): {"type": "string"} for each in arguments.split(",") if each.strip()}
    return guess_effects(name, {"type": "object", "properties": properties}, hints or {})


@pytest.mark.parametrize(
    "tool",
    [
        "get_note(name)",
        "listOpenIssues(repo)",
        "get_pull_request(number)",
        "list_post_comments(id)",
        "slack_list_channels",
        "brave_web_search(query)",
        "directory_tree(path)",
        "git_status(repo)",
        "conversations_history(channel)",
        "query(text)",
        "search_and_summarize(query)",
        "check_spelling(text)",
        "get_country(code)",
    ],
)
def test_tool_whose_verbs_all_read_is_read_only(tool: str) -> None:
    assert guess(tool) == READS
    assert guess(tool, SAYS_IT_READS) == READS
    assert guess(tool, {"readOnlyHint": False}) == ALL_EFFECTS


@pytest.mark.parametrize(
    ("tool", "effects"),
    [
        ("search_and_replace(path, text)", SENDS),
        ("get_and_delete(id)", SENDS),
        ("fetch_and_post(url)", SENDS),
        ("status_update(text)", SENDS),
        ("search_replace(path)", SENDS),
        ("read_write_file(path)", SENDS),
        ("check_out(cart)", SENDS),
        ("log_call(number)", SENDS),
        ("delete_all", SENDS),
        ("wire_money(iban, amount)", SENDS),
        ("refund(order)", SENDS),
        ("send_list(items)", SENDS),
        ("execute_query(sql)", ALL_EFFECTS),
        ("executeQuery(query)", ALL_EFFECTS),
        ("run_shell(line)", ALL_EFFECTS),
        ("query(sql)", ALL_EFFECTS),
        ("read_query(sql_text)", ALL_EFFECTS),
        ("inspect(command)", ALL_EFFECTS),
        ("find(script)", ALL_EFFECTS),
        ("check(code)", ALL_EFFECTS),
        ("analyze(code)", ALL_EFFECTS),
        ("list_and_run(name)", ALL_EFFECTS),
    ],
)
def test_worst_verb_decides_whatever_the_server_hints(tool: str, effects: frozenset[Effect]) -> None:
    assert guess(tool) == effects
    assert guess(tool, SAYS_IT_READS) == effects


@pytest.mark.parametrize("tool", ["oven(room)", "explode_query(text)", "get_and_frobnicate(id)", "log_dose(mg)", ""])
def test_unknown_verb_has_all_effects_whatever_the_server_hints(tool: str) -> None:
    assert guess(tool) == ALL_EFFECTS
    assert guess(tool, SAYS_IT_READS) == ALL_EFFECTS
    assert guess(tool, {**SAYS_IT_READS, "openWorldHint": False, "destructiveHint": False}) == ALL_EFFECTS


def test_hints_do_not_soften_a_writing_verb() -> None:
    for tool in ("delete_note(id)", "send_note(id)"):
        assert guess(tool, {"openWorldHint": False, "destructiveHint": False}) == SENDS


def described(tool: str, **types: str) -> tuple[ArgumentRole, frozenset[Effect]]:
    """Infer roles and effects of a tool written as a call. Arguments marked with `!` are required."""
    name, _, arguments = tool.rstrip(")").partition("(")
    names = [each.strip() for each in arguments.split(",") if each.strip()]
    properties = {each.rstrip("!"): {"type": types.get(each.rstrip("!"), "string")} for each in names}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [each.rstrip("!") for each in names if each.endswith("!")],
    }
    return guess_roles("server", name, schema, guess_effects(name, schema, {}))


@pytest.mark.parametrize(
    "tool",
    [
        "create_event(title!, start!, attendees)",
        "createCalendarEvent(calendarId!, summary!, description, guests)",
        "schedule_meeting(title, participants)",
        "add_event(title, invitees, mood)",
    ],
)
def test_calendar_entry_with_optional_guests_invites(tool: str) -> None:
    roles, effects = described(tool)
    assert roles.invites
    assert effects == INVITES


@pytest.mark.parametrize(
    "tool",
    [
        "create_event(title!, attendees!)",
        "create_event(title)",
        "create_event(channel, title, attendees)",
        "create_event(title, attendees, webhook_url)",
        "update_event(id, attendees)",
        "send_event(title, attendees)",
        "create_and_publish_event(title, attendees)",
        "create_event(title, attendees, script)",
    ],
)
def test_tool_that_may_reach_others_without_guests_does_not_count_as_an_invitation(tool: str) -> None:
    roles, effects = described(tool)
    assert not roles.invites
    assert Effect.WRITES_FINALLY in effects
    assert Effect.COMMUNICATES in effects


def test_number_of_guests_is_no_invitation() -> None:
    assert described("create_reservation(title, guests)", guests="integer")[1] == SENDS


@pytest.mark.parametrize(
    "tool",
    [
        "delete_file(name)",
        "create_file(name, content)",
        "append_to_file(path, content)",
        "write_note(title, text)",
        "cancel_event(event)",
        "move_event(id, start_time)",
        "delete_email(email_id)",
        "update_user_info(first_name, last_name, street)",
        "update_password(password)",
    ],
)
def test_change_of_what_the_owner_stores_does_not_communicate(tool: str) -> None:
    assert described(tool)[1] == STORES


@pytest.mark.parametrize(
    "tool",
    [
        "create_file(repo, path, content)",
        "create_gist(description, content)",
        "create_issue(title, body)",
        "update_profile(id, text)",
        "set_status(status)",
        "set_file_public(name)",
        "create_file(name, content, public)",
        "set_folder_permissions(name, permission)",
        "delete_file(name, reason_for_others)",
        "move_event(id, location)",
        "delete_user(user)",
        "upload_file(name)",
        "create_file(url)",
        "write_file(name, to)",
        "delete_message(id, note)",
        "update_page(id, content)",
        "grant(id)",
    ],
)
def test_change_that_others_may_see_communicates(tool: str) -> None:
    assert described(tool)[1] == SENDS


def test_change_that_runs_a_program_keeps_all_effects() -> None:
    assert described("delete_file(name, command)")[1] == ALL_EFFECTS
