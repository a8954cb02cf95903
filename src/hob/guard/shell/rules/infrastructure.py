"""Deletions on other systems: clusters (kubectl), clouds (aws, gcloud, az), infrastructure (terraform)."""

import re
from collections.abc import Iterator

from hob.core.tools import Effect
from hob.guard.shell.arguments import words
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding

_DELETES = re.compile(
    r"delete|destroy|rm|rb|remove|uninstall|purge|prune|drain|terminate|delete-\S+|terminate-\S+|remove-\S+|\S+[:-]destroy|\S+:delete|--prune|"
    r"drop|nuke|wipe|reset|taint"
)
_CHANGES = frozenset(
    {"apply", "import", "up", "deploy", "scale", "rollout", "patch", "replace", "edit", "set", "create", "upgrade"}
)
_COMMUNICATES = frozenset({Effect.COMMUNICATES})


def cloud(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge the client of a remote service."""
    words = [arg for arg in rule_input.args if not arg.startswith("-")]
    if (
        any(_DELETES.fullmatch(word) for word in words[:4])
        or "--prune" in rule_input.args
        or "-destroy" in rule_input.args
    ):
        yield rule_input.ask("remote-deletion", "it deletes what is elsewhere", _COMMUNICATES)
    elif rule_input.name in ("terraform", "tofu", "pulumi", "cdk") and set(words[:1]) & {"apply", "up", "deploy"}:
        yield rule_input.ask("remote-change", "it changes what is elsewhere", _COMMUNICATES)
    elif set(words[:2]) & _CHANGES:
        yield rule_input.note("network", "it changes what is elsewhere", _COMMUNICATES)


RULES: Rules = dict.fromkeys(
    words("""kubectl oc helm terraform tofu terragrunt pulumi cdk aws gcloud az gsutil heroku fly flyctl doctl
    linode-cli hcloud eksctl vercel netlify wrangler firebase supabase ibmcloud oci rclone s3cmd mc b2 kops minikube
    kind vagrant ansible-playbook"""),
    cloud,
)
