"""Reading secrets: keys, passwords, `.env`, the environment."""

import re
from collections.abc import Iterator

from hob.core.translation.language import translatable
from hob.guard.policy.places import is_hidden_file
from hob.guard.shell.arguments import ANY, HERE, HOME, ONE, STAR, Args, display, operands
from hob.guard.shell.command_context import Rule, RuleInput, Rules, ShellFinding

# a name that begins a path component: after a slash, or at the beginning of an option value or a path
_BEGIN = r"(?:^|[/=@:,\s\"'(\x03])"
_SECRET = re.compile(
    _BEGIN + r"(?:\.ssh|\.aws|\.azure|\.gnupg|\.gpg|\.kube|\.netrc|_netrc|\.git-credentials|\.pgpass|\.my\.cnf|\.npmrc|"
    r"\.pypirc|"
    r"\.password-store|\.vault-token|\.htpasswd|\.s3cfg|\.boto|\.rhosts|\.keychain|\.electrum|\.bitcoin|\.ethereum|"
    r"\.(?:bash|zsh|python|psql|mysql|sqlite|node_repl)_history|\.mozilla|\.thunderbird|\.authinfo(?:\.gpg)?|\.terraformrc|"
    r"\.docker/config\.json|\.config/(?:gcloud|gh|hub|op|rclone|google-chrome|chromium|BraveSoftware|microsoft-edge|Signal|"
    r"Bitwarden|sops|doctl|containers/auth\.json)|\.local/share/(?:keyrings|kwalletd|gnome-keyring)|\.cargo/credentials(?:\.toml)?|"
    r"Library/(?:Keychains|Cookies|Application Support/(?:Google|Firefox|BraveSoftware|1Password))|"
    r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|credentials\.json|client_secret[\w.-]*\.json|service[-_]account[\w.-]*\.json|"
    r"(?!(?:[\w.-]*[._-])?(?:example|sample|template|dist|test|process|meta|os)\.env\b)"
    r"[\w.-]*\.env(?:\.(?!example|sample|template|dist|test\b)[\w.-]+)?|\.envrc|(?:[\w.-]*\.)?kubeconfig|\.dockercfg|secrets\.(?:ya?ml|json|toml)|master\.key|"
    r"(?:etc/)?(?:g?shadow-?|sudoers|master\.passwd)|ssh_host_\w+_key)(?=$|[/:,\s\"')*?\x01\x02])"
    r"|/proc/(?:\d+|self|\$\$|[^/]*[\x00-\x02][^/]*|thread-self)/(?:environ|mem|maps|fd|root|cwd|cmdline)\b|/proc/k(?:core|allsyms)|/dev/k?mem\b"
    r"|/etc/(?:g?shadow|sudoers|ssl/private|ssh/ssh_host|krb5\.keytab|NetworkManager/system-connections)"
    r"|/(?:var/)?run/(?:secrets|docker\.sock|containerd|user/|dbus|podman)|docker\.sock|\.(?:kdbx|keytab|jks|pfx|p12|ppk|tfstate|tfvars)(?=$|[/\s\"'])"
    r"|logins\.json|key4\.db|Login Data|cookies\.sqlite|wallet\.dat|/metadata/v1|169\.254\.169\.254"
)
_OWN = re.compile(_BEGIN + r"\.hob(?=$|[/\s\"'])")
_HINT = re.compile(
    r"[._/]|shadow|sudoers|id_|Login Data|secrets|credentials|logins|service|key|kubeconfig|wallet|client"
)
_WORDS = re.compile(
    r"(?:^|_)(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PRIVATE_KEY|ACCESS_KEY|CREDENTIALS?)(?:_|$|\d)|^HOB_|_PAT$"
)
_SOCKETS = frozenset({"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "GPG_AGENT_INFO", "XAUTHORITY", "DOCKER_HOST"})
_TEXT_COMMANDS = frozenset(
    {"echo", "printf", "git", "gh", "glab", "say", "figlet", "true", ":", "false", "type", "alias", "trap"}
)
_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "jq", "zgrep", "pgrep"})
_EXCLUDES = re.compile(r"--?(?:exclude|ignore|iglob|glob|not-path|prune)[\w-]*=")
_EXAMPLES = (
    "id_rsa",
    "id_ed25519",
    "shadow",
    "environ",
    "credentials",
    ".ssh",
    ".aws",
    ".netrc",
    ".env",
    ".gnupg",
    ".hob",
)


def find_secret_name(text: str) -> str:
    """Return the name of a secret location in the text; "" if there is none."""
    if _HINT.search(text) is None:
        return ""
    found = _OWN.search(text) or _SECRET.search(text)
    return display(found[0]).strip("/=@:,\"'( \t\n") if found is not None else ""


def _key_file(text: str) -> str:
    """Return the file's name if it usually holds a key, by the rule of the file tools; otherwise ""."""
    name = re.split(r"[/=@:]", text)[-1]
    return display(name) if is_hidden_file(name) else ""


def _globbed(text: str) -> str:
    """Return a secret name that the pattern may match, as in `~/.s?h/id_*`; "" if there is none."""
    for part in re.split(r"[/=@:]", text):
        if (STAR in part or ONE in part) and part.strip(f"{STAR}{ONE}./{HOME}{HERE}") and len(part) < 40:
            wanted = re.compile(
                "".join({STAR: ".*", ONE: ".", ANY: ".*"}.get(char) or re.escape(char) for char in part)
            )
            for name in _EXAMPLES:
                if part.count(STAR) < 4 and wanted.fullmatch(name) and not part.endswith((f"{STAR}.py", f"{STAR}.md")):
                    return name
    return ""


def judge_paths(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge secret locations named in the arguments or redirections of any command."""
    command = rule_input.command
    args = _paths(rule_input)
    targets = [at.target for at in command.redirections if at.operator in ("<", "<>")]
    written = [at.target for at in command.redirections if at.operator[:1] == ">" or at.operator[:2] == "&>"]
    for text in (*args, *targets, *written, *(value for name, value in command.assignments if name != "PATH")):
        name = find_secret_name(text) or _key_file(text) or (_globbed(text) if STAR in text or ONE in text else "")
        if not name:
            resolved = rule_input.resolve(text) if "/" in text or command.directory != HERE else ""
            name = (
                find_secret_name(resolved)
                if (resolved and find_secret_name(command.directory + "/")) or ".." in text
                else ""
            )
        if ".hob" in name and _OWN.search(text + "/"):
            yield rule_input.refuse("own-state", "it reaches for Hob's own keys and memory")
        elif name:
            name = text if text == f"/{name}" else name
            yield rule_input.ask(
                "secret-reading", translatable("it reaches for {name}, where secrets are kept", name=name)
            )
        if name:
            return


def _paths(rule_input: RuleInput) -> Args:
    """Return the arguments that may be paths."""
    command, args = rule_input.command, rule_input.args
    if command.name in _TEXT_COMMANDS:
        # these are text, not files; but a wildcard lists names
        return tuple(
            arg for arg in args if STAR in arg or (command.name == "git" and " " not in arg and "\n" not in arg)
        )
    if command.name in _SEARCHES:
        rest = operands(
            args, ("-e", "-f", "-A", "-B", "-C", "-m", "-g", "--include", "--exclude", "--exclude-dir", "-t")
        )
        patterned = any(arg in ("-e", "--regexp") for arg in args)
        return tuple(rest if patterned else rest[1:])
    if command.name in ("cp", "mv", "touch", "ln", "rsync", "test", "[") and len(args) > 1 and command.name[0] in "cm":
        args = (*args[:-1], "" if args[-1].rpartition("/")[2].startswith(".env") else args[-1])
    if command.runs.code and command.name != "find":
        texts = {code.text for code in command.runs.code}
        args = tuple(arg for arg in args if arg not in texts)
    if command.runs.shell:
        texts = {text for text, _ in command.runs.shell}
        args = tuple(arg for arg in args if arg not in texts)
    return tuple(arg for arg in args if not _EXCLUDES.match(arg))


def judge_variables(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge environment variables that hold secrets."""
    for name in rule_input.command.reads:
        if (_WORDS.search(name) or name in _SOCKETS) and rule_input.name not in ("[", "test", "unset", "export"):
            yield rule_input.ask("secret-reading", translatable("it uses the secret in ${name}", name=name))
            return


def _judge_dump(*bare: Args) -> Rule:
    def rule(rule_input: RuleInput) -> Iterator[ShellFinding]:
        if rule_input.args in bare:
            yield rule_input.ask("environment-dump", "it prints the environment, which may hold secrets")

    return rule


def env(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `env` without a command."""
    if (
        not rule_input.command.runs.commands
        and not rule_input.command.runs.shell
        and rule_input.args not in (("--version",), ("--help",))
    ):
        yield rule_input.ask("environment-dump", "it prints the environment, which may hold secrets")


def printenv(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `printenv` without a name, or with the name of a secret."""
    names = operands(rule_input.args)
    if not names or any(_WORDS.search(name) or ANY in name for name in names):
        yield rule_input.ask("environment-dump", "it prints the environment, which may hold secrets")


def processes(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `ps e`, which shows the environment of every process."""
    chosen = any(arg.startswith("-") and arg[1:2] in "opC" for arg in rule_input.args)
    if not chosen and any(re.fullmatch(r"[a-zA-Z]*e[a-zA-Z]*|-E|.*environ.*", arg) for arg in rule_input.args[:2]):
        yield rule_input.ask("environment-dump", "it prints the environment of processes")


def declared(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `export -p` and `declare -x`."""
    names = [arg for arg in rule_input.args if not arg.startswith(("-", "+"))]
    functions = any(arg.startswith("-") and set(arg) & set("fF") for arg in rule_input.args)
    if not names and not rule_input.command.assignments and not functions:
        yield rule_input.ask("environment-dump", "it prints all variables, which may hold secrets")


def service_manager(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge programs that print stored secrets."""
    words = " ".join(rule_input.args)
    if re.search(_SECRET_STORES[rule_input.name], words):
        yield rule_input.ask("secret-reading", "it hands out stored secrets")


_SECRET_STORES = {
    "pass": r"",
    "secret-tool": r"lookup|search",
    "security": r"find-|dump-|export",
    "gpg": r"export-secret|--decrypt|-d\b",
    "gpg2": r"export-secret|--decrypt|-d\b",
    "op": r"",
    "bw": r"",
    "vault": r"read|kv|print",
    "keyring": r"get",
    "kwallet-query": r"",
    "aws": r"get-secret|get-parameter|configure (get|export)|get-session|export-cred|get-login",
    "gcloud": r"print-(access|identity)|secrets versions",
    "az": r"get-access-token|keyvault secret",
    "gh": r"auth (token|status.*(-t|--show-token))",
    "glab": r"auth (token|status.*(-t|--show-token))",
    "kubectl": r"get secrets?|config view.*--raw|create token",
    "ssh-add": r"-L",
    "doppler": r"",
    "getent": r"shadow",
    "lastpass-cli": r"",
    "lpass": r"",
    "pbpaste": r"",
    "xclip": r"-o",
    "wl-paste": r"",
    "jq": r"(^|[\s|(,\[{])(env\b|\$ENV\b)|input_filename.*env",
    "docker": r"(inspect|exec\s.*\benv$|compose\s+config)|secret",
    "systemctl": r"show-environment",
    "compgen": r"-[vea]",
    "dconf": r"dump",
    "strings": r"/proc/",
}

RULES: Rules = {
    "env": env,
    "printenv": printenv,
    "ps": processes,
    "set": _judge_dump(()),
    **dict.fromkeys(("export", "declare", "typeset", "readonly"), declared),
    **dict.fromkeys(_SECRET_STORES, service_manager),
}
