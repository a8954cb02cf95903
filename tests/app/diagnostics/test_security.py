"""Each check finds what it is there for, and says nothing about a Hob that is as it should be."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.agent.budget.limits import SpendingSettings
from hob.app.diagnostics.check import Severity
from hob.app.diagnostics.checks.security import AUDIT
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.diagnostics.report import DiagnosticReport, run_checks
from hob.app.diagnostics.security_values import (
    BackendFacts,
    FileFacts,
    PermissionFix,
    PlaceFacts,
    SecretFacts,
    SecurityFacts,
    open_places,
)
from hob.core.settings import Secret
from hob.core.trust.labels import SenderClass
from hob.gateway.settings import GatewaySettings
from hob.gateway.webhooks.settings import Webhooks, WebhookSettings
from hob.guard.admission.settings import ActionLimits, AdmissionSettings, ChannelAdmission, DmPolicy, GroupPolicy
from hob.guard.screening.model_calls.settings import PromptGuardSettings, SanitizerSettings, ScreeningAction
from hob.guard.screening.scanner.settings import ScannerAction, ScannerSettings
from hob.guard.settings import ApprovalSettings, PolicySettings, ToolRules
from hob.tools.sandbox.settings import SandboxSettings

PRIVATE = ("home", "config", "database", "secrets", "secret", "reference", "backups", "backup", "logs", "blobs",
           "socket", "head", "log")  # fmt: skip
PASSPHRASE = Secret.of("sesame open")
OWNERS_WEBHOOK = Webhooks({"door": WebhookSettings(Secret.of("a" * 16), sender=SenderClass.OWNER)})


def audit(facts: SecurityFacts, accepted: Sequence[str] = ()) -> DiagnosticReport:
    here = DiagnosticContext(Path("/nowhere"), {}, online=False).with_facts(facts)
    return run_checks(here, checks=AUDIT, accepted=accepted)


def place(name: str, mode: int = 0o644, **more: Any) -> SecurityFacts:
    return SecurityFacts(files=FileFacts(places={name: PlaceFacts(f"/x/{name}", mode, **more)}))


def files(**values: Any) -> SecurityFacts:
    return SecurityFacts(files=FileFacts(**values))


def of(section: str, kind: Callable[..., Any]) -> Callable[..., SecurityFacts]:
    def make(**values: Any) -> SecurityFacts:
        return replace(SecurityFacts(), **{section: kind(**values)})

    return make


gateway = of("gateway", GatewaySettings)
secrets = of("secrets", SecretFacts)
sandbox = of("sandbox", SandboxSettings)
backend = of("backend", BackendFacts)
policy = of("policy", PolicySettings)
approvals = of("approvals", ApprovalSettings)
admission = of("admission", AdmissionSettings)
scanner = of("scanner", ScannerSettings)

WRONG = {
    **{f"fs.{name}_mode": place(f"{name}.1") for name in PRIVATE},
    "fs.workspace_writable": place("workspace", 0o777),
    "fs.identity_writable": place("identity.SOUL.md", 0o666),
    "fs.setuid": files(setuid=("/home/me/hob/work/sh",)),
    "fs.foreign_owner": place("config", 0o600, mine=False),
    "fs.symlink": place("home", 0o777, link=True),
    "fs.home_synced": files(home="/home/me/Dropbox/hob"),
    "fs.home_in_repository": files(repository="/home/me/dotfiles"),
    "fs.home_replaceable": files(parent_open=True),
    "fs.home_in_workspace": files(home="/home/me/hob/.hob"),
    "fs.workspace_in_home": files(workspace="/home/me/.hob/work"),
    "fs.workspace_too_wide": files(workspace="/home", home="/srv/hob"),
    "fs.running_as_root": files(root=True),
    "fs.no_recent_backup": files(backup_days=None),
    "gateway.bind_everywhere": gateway(host="::"),
    "gateway.bind_plain": gateway(host="192.168.1.2"),
    "gateway.token_short": secrets(token_length=16),
    "gateway.token_plain": secrets(token_signs=3),
    "secrets.plain_in_config": secrets(plain=("model.api_key",)),
    "secrets.plain_in_headers": secrets(in_headers=("model.providers.x.headers.authorization",)),
    "secrets.not_maskable": secrets(short=("model.api_key",)),
    "secrets.unreadable": secrets(unreadable=("model.api_key",)),
    "secrets.reused": secrets(same=(("a", "b"),)),
    "model.key_in_environment": secrets(in_environment=("OPENAI_API_KEY",)),
    "model.plain_http": SecurityFacts(plain_http=("http://example.org/v1",)),
    "model.key_over_http": SecurityFacts(plain_key=("http://192.168.1.5/v1",)),
    "limits.absurd": SecurityFacts(limits={"spending.daily": 1e9, "admission.attachments": 10}),
    "model.secrets_told": SecurityFacts(prompt_guard=PromptGuardSettings(secrets=ScreeningAction.OFF)),
    "model.no_limit": SecurityFacts(spending=SpendingSettings()),
    "model.strangers_spend": replace(admission(dm_policy=DmPolicy.OPEN), spending=SpendingSettings()),
    "model.images_elsewhere": SecurityFacts(sanitizer=SanitizerSettings()),
    "policy.full_and_autonomous": policy(mode="full", autonomy="autonomous"),
    "policy.mode_full": policy(mode="full"),
    "policy.autonomous": policy(autonomy="autonomous"),
    "policy.members_read_private": policy(member_private="allow"),
    "policy.everything_for_others": policy(senders={"owner": ToolRules(["*"]), "member": ToolRules(["*"])}),
    "policy.agents_configure": policy(subagents=ToolRules()),
    "policy.deep_agents": policy(depth=8),
    "approvals.nameless_channel": approvals(channels=["email@work"]),
    "approvals.unproven_channel": replace(
        approvals(channels=["irc"]), admission=AdmissionSettings(unauthenticated=["irc", "email", "sms", "webhook"])
    ),
    "approvals.long": approvals(seconds=1e6),
    "approvals.stale": approvals(use_seconds=1e6),
    "sandbox.plain": sandbox(backend="plain"),
    "sandbox.none_found": backend(name=""),
    "sandbox.second_best": backend(name="landlock"),
    "sandbox.old_bubblewrap": backend(protects=False),
    "sandbox.any_host": sandbox(hosts=["*"]),
    "sandbox.wide_hosts": sandbox(hosts=["*.com", "*.example.org"]),
    "sandbox.reaches_own_keys": sandbox(read=["/home/me/.ssh"]),
    "sandbox.reaches_home": sandbox(write=["/home/me/.hob/blobs"]),
    "sandbox.changes_system": sandbox(write=["/etc/"]),
    "sandbox.sockets": sandbox(read=["/var/run/docker.sock"]),
    "sandbox.secret_variables": sandbox(environment=["GITHUB_TOKEN", "LANG"]),
    "sandbox.steering_variables": sandbox(environment=["LD_PRELOAD", "LANG"]),
    "sandbox.hooks_unprotected": sandbox(protected=[".git/config"]),
    "sandbox.image_unpinned": sandbox(image="localhost:5000/python"),
    "channels.open_dm": admission(channels={"telegram": ChannelAdmission(dm_policy="open")}),
    "channels.open_groups": admission(group_policy=GroupPolicy.OPEN),
    "channels.everybody_allowed": admission(allow=["telegram:*", "telegram:1"]),
    "channels.group_strangers": admission(group_strangers=True),
    "channels.unmentioned": admission(mention=False, groups=["telegram:-1"]),
    "channels.passphrase_plain": admission(passphrase=PASSPHRASE),
    "channels.passphrase_long": admission(passphrase=PASSPHRASE, passphrase_hours=999.0),
    "channels.names_believed": admission(unauthenticated=["sms", "webhook"]),
    "channels.webhook_owner": SecurityFacts(webhooks=OWNERS_WEBHOOK),
    "channels.many_messages": admission(messages_per_minute=999),
    "channels.many_strangers": admission(strangers_per_minute=999),
    "channels.many_mails": admission(limits=ActionLimits(apps={})),
    "channels.no_cooldown": admission(limits=ActionLimits(cooldown_seconds=0)),
    "channels.any_file": admission(attachment_types=["*/*"]),
    "scanner.strangers_pass": scanner(stranger=ScannerAction.ASK),
    "scanner.members_unseen": scanner(member=ScannerAction.NONE),
    "scanner.blunt": scanner(threshold=9.0),
}  # fmt: skip


def test_security_checks_have_unique_ids() -> None:
    assert len(AUDIT) >= 60
    assert len({check.id for check in AUDIT}) == len(AUDIT)
    assert all(check.question and check.audit for check in AUDIT)


def test_default_installation_has_no_findings() -> None:
    report = audit(SecurityFacts())
    assert (report.findings, report.worst) == ((), None)


@pytest.mark.parametrize("check", [check.id for check in AUDIT])
def test_each_check_finds_its_problem(check: str) -> None:
    found = [finding for finding in audit(WRONG[check]).findings if finding.id == check]
    assert len(found) == 1


def test_table_names_existing_checks_only() -> None:
    assert set(WRONG) == {check.id for check in AUDIT}


@pytest.mark.parametrize("image", ["python:3.13", "docker.io/python@sha256:12", ""])
def test_image_with_a_tag_is_fine(image: str) -> None:
    assert audit(sandbox(image=image)).findings == ()


def test_gateway_that_serves_only_its_socket_is_not_judged_by_host_or_token() -> None:
    facts = replace(gateway(port=-1, host="0.0.0.0"), secrets=SecretFacts(token_length=1, token_signs=1))
    assert audit(facts).findings == ()


def test_gateway_with_a_certificate_is_not_plain() -> None:
    assert audit(gateway(host="192.168.1.2", tls_cert=Path("hob.pem"))).findings == ()


def test_only_permissions_are_fixed_and_only_removed() -> None:
    (finding,) = audit(place("home", 0o755)).findings
    assert (finding.found.where, finding.found.fix is not None) == ("/x/home", True)
    assert open_places(place("home", 0o755), "home") == [PermissionFix("/x/home", 0o055)]
    others = [each for facts in WRONG.values() for each in audit(facts).findings if each.found.fix]
    assert {each.id.split(".")[0] for each in others} == {"fs"}


def test_accepted_finding_is_reported_last_and_does_not_count() -> None:
    facts = files(root=True, repository="/r", home="/home/me/hob/.hob")
    report = audit(facts, ["fs.home_in_workspace", "fs.no_such"])
    assert [finding.accepted for finding in report.findings] == [False, False, True]
    assert (report.worst, report.unknown) == (Severity.WARN, ("fs.no_such",))
