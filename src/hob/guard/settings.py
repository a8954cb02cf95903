"""What the owner sets about permission: modes, lists of tools, tiers, how long a question stands."""

from hob.core.settings import setting
from hob.core.values import dataclass
from hob.guard.policy.modes import Autonomy, Mode
from hob.guard.policy.tool_lists import PROFILES


@dataclass(frozen=True, slots=True)
class ToolRules:
    """Which tools may be used in some circumstance."""

    allow: list[str] = setting([], "Tools that may be used: names, *, group:NAME; empty: all.")
    deny: list[str] = setting([], "Tools that may not be used; counts before allow.")


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What may be done, by whom, and what is asked first. The strictest of all that applies counts."""

    mode: str = setting(
        Mode.GUARDED.value, "What conversations permit where nothing else was chosen.", one_of=tuple(Mode)
    )
    autonomy: str = setting(
        Autonomy.CAUTIOUS.value, "How much conversations do without asking where nothing else was chosen.",
        one_of=tuple(Autonomy),
    )  # fmt: skip
    profile: str = setting("full", "A named list of tools that may be used.", one_of=tuple(PROFILES))
    allow: list[str] = setting([], "Tools that may be used: names, *, group:NAME; empty: all of the profile.")
    deny: list[str] = setting([], "Tools that may not be used; counts before allow.")
    providers: dict[str, ToolRules] = setting({}, "Tools by who thinks: a provider or provider/model.")
    groups: dict[str, ToolRules] = setting({}, "Tools in group chats, by channel:chat, channel or *.")
    senders: dict[str, ToolRules] = setting({}, "Tools by who writes: owner, member or stranger.")
    sandbox: ToolRules = setting(ToolRules(), "Tools where commands run in a sandbox.")
    subagents: ToolRules = setting(
        ToolRules(deny=["group:configuration"]), "Tools of agents that another agent has started."
    )
    depth: int = setting(2, "How many agents may lie between one and a person's message.", at_least=0, at_most=8)
    owner_tier: int = setting(2, "The highest tier of tools that you use without being asked.", at_least=0, at_most=2)
    member_tier: int = setting(2, "The highest tier that people you linked use unasked.", at_least=0, at_most=2)
    member_private: str = setting(
        "ask", "Whether what is yours is read or changed for people you linked.", one_of=("allow", "ask", "deny")
    )


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """The questions whether something may be done."""

    seconds: float = setting(
        86_400.0, "How long a question stands, in seconds; then the answer is no.", at_least=30, stored=True
    )
    use_seconds: float = setting(
        3_600.0, "Seconds that an approval you gave may wait for its use.", at_least=30, stored=True
    )
    channels: list[str] = setting([], "Further channels that authenticate their senders, where you may answer.")
    shown: int = setting(3_500, "Characters of a question in a chat; the command line shows all.", at_least=500)
