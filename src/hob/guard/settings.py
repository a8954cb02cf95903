"""Settings for permissions: modes, tool lists, risk tiers, expiry of approvals."""

from hob.core.settings import setting
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.guard.policy.modes import Autonomy, Mode
from hob.guard.policy.tool_lists import GROUPS, PROFILES, group_of


def _group_problem(entry: str) -> str:
    """Return the problem with an unknown group, which would deny nothing."""
    if (name := group_of(entry)) in ("", "all", *GROUPS):
        return ""
    return translatable("there is no group of tools {name}, only {known}", name=name, known=", ".join(("all", *GROUPS)))


@dataclass(frozen=True, slots=True)
class ToolRules:
    """Tools that may or may not be used in a certain situation."""

    allow: list[str] = setting(
        [], "Tools that may be used: names, name*, group:NAME; not set: all.", problem=_group_problem
    )
    deny: list[str] = setting([], "Tools that may not be used; takes precedence over allow.", problem=_group_problem)


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What Hob may do, for whom, and what it asks first. Of all rules that apply, the strictest counts."""

    mode: str = setting(
        Mode.GUARDED.value,
        "Mode of conversations that chose none: read-only allows reading, guarded asks before anything that "
        "cannot be undone, workspace and full ask less.",
        one_of=tuple(Mode),
    )
    autonomy: str = setting(
        Autonomy.CAUTIOUS.value,
        "How much Hob does without asking, within the mode: supervised asks before each change, cautious and "
        "autonomous ask less.",
        one_of=tuple(Autonomy),
    )
    profile: str = setting("full", "Tools that may be used at all; full: all.", one_of=tuple(PROFILES))
    allow: list[str] = setting(
        [], "Tools that may be used: names, name*, group:NAME; not set: all of the profile.", problem=_group_problem
    )
    deny: list[str] = setting([], "Tools that may not be used; takes precedence over allow.", problem=_group_problem)
    providers: dict[str, ToolRules] = setting({}, "Tool rules by the model that answers: a provider or provider/model.")
    groups: dict[str, ToolRules] = setting({}, "Tool rules for group chats, by channel:chat, channel or *.")
    senders: dict[str, ToolRules] = setting({}, "Tool rules by sender: owner, member or stranger.")
    sandbox: ToolRules = setting(ToolRules(), "Tool rules that apply if commands run in a sandbox.")
    subagents: ToolRules = setting(
        ToolRules(deny=["group:configuration"]), "Tool rules for agents started by another agent."
    )
    depth: int = setting(
        2,
        "Maximum depth at which sub-agents may call tools; 1 is a sub-agent of your conversation.",
        at_least=0,
        at_most=8,
    )
    owner_tier: int = setting(
        2,
        "Risk up to which your calls need no approval, unless another rule asks: 0 reading, 1 changes too, 2 "
        "everything.",
        at_least=0,
        at_most=2,
    )
    member_tier: int = setting(
        2, "The same for people you linked: 0 reading, 1 changes too, 2 everything.", at_least=0, at_most=2
    )
    member_private: str = setting(
        "ask",
        "Whether your own files and memory may be read or changed for people you linked.",
        one_of=("allow", "ask", "deny"),
    )


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """The questions that Hob asks before it does something."""

    seconds: float = setting(
        86_400.0, "Seconds a question waits for your answer; after that, the answer is no.", at_least=30, stored=True
    )
    use_seconds: float = setting(
        3_600.0, "Seconds after your approval within which the approved action must begin.", at_least=30, stored=True
    )
    channels: list[str] = setting([], "Additional channels on which you may answer; they must authenticate senders.")
    shown: int = setting(
        3_500, "Maximum characters of a question in a chat; the command line shows all of it.", at_least=500
    )
