"""The glossary: each term, its place in the code, and its meaning in a sentence."""

import importlib

TERMS: dict[str, tuple[str, str]] = {
    "address": ("core.messages:Address", "Where an answer goes: channel, account, chat and thread."),
    "admission": (
        "app.trust.admission:AdmissionController",
        "Decides who a sender is and whether a message may come in.",
    ),
    "approval": (
        "guard.approvals.ledger:ApprovalLedger",
        "The owner's yes to one exact call, asked when a rule wants it.",
    ),
    "attempt": (
        "bus.crash_quarantine:CrashQuarantine",
        "A run of a turn; three unclean ends at one place quarantine it.",
    ),
    "channel": ("core.ports.channel:Channel", "One account on one platform where people talk to Hob."),
    "compaction": ("agent.compaction.compaction:Compactor", "A summary takes the place of a session's older messages."),
    "contribution": (
        "app.contribution:Contribution",
        "What an open subsystem adds: ports, channels, tools, hooks, jobs.",
    ),
    "delivery": (
        "bus.delivery:OutboxDelivery",
        "Brings rows of the outbox to their channels, again until they are taken.",
    ),
    "effect": ("core.tools:Effect", "What a tool call does to the world: reads, writes, sends, persists, executes."),
    "failover": (
        "providers.routing.failover:FailoverPlan",
        "Which model and key is asked next when one gives no answer.",
    ),
    "follower": ("app.contribution:Follower", "Reads the timeline with a durable cursor and acts on what is new."),
    "guard": (
        "guard.policy.judge:PolicyJudge",
        "Judges every tool call by labels and arguments, never by the model's words.",
    ),
    "inbound": ("core.messages:Inbound", "A message someone sent to Hob, before anybody has judged it."),
    "job": ("app.contribution:Job", "Background work of a daemon; restarted with growing pauses when it fails."),
    "kernel": ("app.kernel:Kernel", "What every part may use: settings, clock, store, queues, notifier."),
    "label": ("core.trust.labels:Label", "Origin and trust of a piece of content; it travels with it."),
    "model route": ("providers.routing.failover:ModelRoute", "One way to ask: a model and one of its provider's keys."),
    "origin": (
        "core.trust.labels:Origin",
        "Where content came from: owner, member, stranger, agent, or the tool that fetched it.",
    ),
    "outbound": ("core.messages:Outbound", "A piece of a message that Hob has to deliver to an address."),
    "owner notifier": (
        "app.notifications.owner_notifier:OwnerNotifier",
        "Tells the owner what they did not ask about.",
    ),
    "pairing": (
        "guard.admission.pairing:PairingService",
        "How a stranger asks to be let in, and the owner decides.",
    ),
    "policy": ("guard.policy.policy:Policy", "The stages that turn a call and its context into allow, ask or deny."),
    "quarantined": (
        "bus.crash_quarantine:CrashQuarantine",
        "Kept apart after repeated crashes; `hob retry` brings it back.",
    ),
    "receipt": ("core.steps:ToolReceived", "The step after a tool call: what came of it."),
    "running turn": ("bus.running_turn:RunningTurn", "A turn that is being worked on; it can be stopped or steered."),
    "session": ("store.sessions:StoredSessions", "One conversation's key and rules; one turn runs at a time."),
    "session queue": ("bus.session_queue:SessionQueue", "What waits in one session, in order."),
    "step": (
        "core.steps:ModelAsked",
        "One journalled event of a turn: model asked, tool intended, tool received and so on.",
    ),
    "subsystem": (
        "app.subsystem:Subsystem",
        "One feature as a value: declared without opening anything, opened in stages.",
    ),
    "taint": ("guard.policy.taint:taint", "The state of a turn whose context holds untrusted content."),
    "tier": ("core.tools:Tier", "The coarse rule by sender: 0 reads, 1 writes, 2 is high risk."),
    "timeline event": ("core.events.timeline:TimelineEvent", "One fact of what happened; facts are never changed."),
    "tool": ("core.tools:ToolSpec", "Something the model may call, with its effects and its restart rule."),
    "tool runtime": ("app.tools.runtime:ToolRuntime", "The tools over one home, made when the first call comes."),
    "toolset": ("core.ports.tools:Toolset", "A set of tools behind one port."),
    "trust": ("core.trust.labels:Trust", "Whether content may be taken as the owner's will: trusted or untrusted."),
    "turn": (
        "core.turns:Turn",
        "The work of one or more messages of a session, from the first model call to the answer.",
    ),
}


def page() -> str:
    """Return the page, with a link to each term's file. Raises if a term names nothing."""
    lines = ["# Glossary", "", "| term | meaning | in the code |", "|---|---|---|"]
    for term, (place, meaning) in TERMS.items():
        module, name = place.split(":")
        getattr(importlib.import_module(f"hob.{module}"), name)
        lines.append(f"| {term} | {meaning} | `{name}` in `src/hob/{module.replace('.', '/')}.py` |")
    return "\n".join(lines) + "\n"
