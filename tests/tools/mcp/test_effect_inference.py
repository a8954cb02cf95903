"""Inference of effects and roles from names, arguments and hints."""

import pytest

from hob.core.tools import ALL_EFFECTS, Effect
from hob.tools.mcp.effect_inference import guess_effects

READS = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
SENDS = frozenset({Effect.COMMUNICATES, Effect.WRITES_FINALLY})
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
