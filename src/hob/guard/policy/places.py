"""Special paths: closed folders, names of key files (`.env`), and files that later turns obey."""

import re
from collections.abc import Sequence

from hob.core.values import dataclass
from hob.guard.policy.addresses import is_within, path

_CLOSED_IN_HOME = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", ".mozilla", ".local/share/keyrings",
    ".config/gcloud", ".config/gh", ".config/google-chrome", ".config/chromium", ".docker/config.json", ".netrc",
    ".git-credentials", ".pypirc", ".vault-token", "Library/Keychains", "Library/Application Support/Google/Chrome",
)  # fmt: skip
_CLOSED = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/proc", "/sys", "/dev", "/boot")
SECRET_NAME = re.compile(
    r"(?i:\.env(?:\.(?!example$|sample$|template$|dist$).+)?|(?!(?:.*[._-])?(?:example|sample|template|dist)\.env$).+\.env"
    r"|\.(?:envrc|netrc|npmrc|pypirc|pgpass|my\.cnf|git-credentials|htpasswd|dockercfg|s3cfg|boto|terraformrc|vault-token)"
    r"|_netrc|credentials(?:\.json)?|auth\.json|service[-_]?account.*\.json|client_secret.*\.json|(?:.*\.)?kubeconfig"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*\.(?:pem|key|ppk|p12|pfx|kdbx|keystore|jks|ovpn|keytab)"
    r"|.*\.tfstate(?:\..*)?|.*\.tfvars(?:\.json)?|.*(?:secret|private).*\.asc|.*secrets?\.(?:json|ya?ml|toml|txt))"
)
"""Names of files that usually hold keys or passwords."""

_CONFIG_NAMES = frozenset({
    "agents.md", "soul.md", "user.md", "tools.md", "identity.md", "memory.md", "claude.md", "claude.local.md",
    "gemini.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules",
    ".goosehints", ".mcp.json", ".aider.conf.yml",
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", "config.fish", ".envrc", ".inputrc", ".tmux.conf", ".screenrc",
    ".gitconfig", ".gitattributes", ".gitmodules", ".vimrc", ".exrc", ".nvimrc", ".gdbinit", ".lldbinit", ".pdbrc",
    ".pythonrc", ".irbrc", ".rprofile", ".yarnrc", ".yarnrc.yml", "authorized_keys",
    ".gitlab-ci.yml", ".travis.yml", "jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml",
    ".pre-commit-config.yaml", "lefthook.yml", "sitecustomize.py", "usercustomize.py", "conftest.py",
})  # fmt: skip
_CONFIG_FOLDERS = (
    ".git", ".hg", ".svn", ".claude", ".cursor", ".windsurf", ".clinerules", ".roo", ".continue", ".kiro", ".junie",
    ".vscode", ".idea", ".devcontainer", ".husky", ".github/workflows", ".github/actions", ".github/instructions",
    ".circleci", ".woodpecker", ".config/fish", ".config/git", ".config/direnv",
)  # fmt: skip
_CONFIG_ANYWHERE = "|".join(map(re.escape, sorted((*_CONFIG_NAMES, *_CONFIG_FOLDERS), key=len, reverse=True)))
_CONFIG_IN_TEXT = re.compile(rf"(?<![\w-])(?:{_CONFIG_ANYWHERE})(?![\w-])", re.IGNORECASE)
_REPOSITORIES = (".git", ".hg", ".svn")
_RUN_BY_REPOSITORY = re.compile(
    r"(?:(?:modules|worktrees)/.*/)?(?:hooks/(?!.*\.sample$).+|config|config\.worktree|info/attributes|hgrc)"
)
_CONFIGURING = ("hooks",)
EXECUTABLE_CONFIG_FOLDERS = ("skills", "operations", "memory", *_CONFIGURING)
"""Folders of the workspace whose files Hob obeys or runs."""


@dataclass(frozen=True, slots=True)
class Places:
    """The absolute paths that rules refer to. Relative names start at `base`. `closed` are additional closed files and
    folders; anything written below `outgoing` leaves the machine.
    """

    state: str
    workspace: str
    base: str
    home: str
    closed: tuple[str, ...] = ()
    outgoing: tuple[str, ...] = ()

    def path(self, text: str) -> str:
        """Normalise a path; "" if the text cannot be one."""
        return path(text, base=self.base, home=self.home)

    def is_state(self, where: str) -> bool:
        """Return whether this is Hob's own state directory, contains it, or is inside it."""
        return bool(where) and (is_within(where, self.state) or is_within(self.state, where))

    def is_closed(self, where: str) -> bool:
        """Return whether this is a place of secrets or of the system, which tools have no business in."""
        own = (f"{self.home}/{name}" for name in _CLOSED_IN_HOME)
        return any(is_within(where, each) for each in (*self.closed, *_CLOSED, *own))

    def is_executable_config(self, where: str) -> bool:
        """Return whether later turns, other agents, git or shells take this file's content as instructions."""
        folders = (f"{self.workspace}/{each}" for each in EXECUTABLE_CONFIG_FOLDERS)
        return is_executable_config_name(where) or any(is_within(where, each) for each in folders)

    def is_outgoing(self, where: str) -> bool:
        """Return whether anything written here leaves the machine."""
        return any(is_within(where, each) for each in self.outgoing)

    def is_reported_change(self, where: str) -> bool:
        """Return whether the owner must be told if a command changed this.

        That is executable configuration, except in git's own folder, which git itself changes all the time: there, only
        hooks and settings make git run something.
        """
        for folder in _REPOSITORIES:
            inside = where.rpartition(f"/{folder}/")[2] if f"/{folder}/" in where else ""
            if inside:
                return _RUN_BY_REPOSITORY.fullmatch(inside) is not None
        return self.is_executable_config(where)

    def is_configuration(self, where: str) -> bool:
        """Return whether this is code that Hob itself runs."""
        return any(is_within(where, f"{self.workspace}/{each}") for each in _CONFIGURING)


def is_executable_config_name(where: str) -> bool:
    """Return whether agents, git, shells, editors or build tools usually obey a file of this name, wherever it is."""
    plain = where.casefold()
    return plain.rpartition("/")[2] in _CONFIG_NAMES or any(f"/{each}/" in f"/{plain}/" for each in _CONFIG_FOLDERS)


def names_executable_config(text: str) -> bool:
    """Return whether a program's text names such a file."""
    return _CONFIG_IN_TEXT.search(text) is not None


def is_secret_file(where: str) -> bool:
    """Return whether a file of this name usually holds keys or passwords."""
    return SECRET_NAME.fullmatch(where.rpartition("/")[2]) is not None


def is_hidden_file(name: str) -> bool:
    """Return whether commands see an empty file in place of a file of this name. Most `.pem` files are certificates, so
    they stay visible.
    """
    return SECRET_NAME.fullmatch(name) is not None and not (name.endswith(".pem") and "key" not in name)


_PATCHED = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |--- |\+\+\+ |(?:rename|copy) (?:from|to) )(.+)$",
    re.MULTILINE,
)


_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)")
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def unquote_git_name(name: str) -> str:
    """Decode a file name as git writes it in a diff: quoted with C escapes if it contains special characters."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    plain = name[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(lambda found: _character(found[1]), plain).decode("utf-8", "replace")


def _character(escape: bytes) -> bytes:
    return bytes((int(escape, 8) & 0xFF,)) if escape[:1].isdigit() else _LETTERS.get(escape, escape)


def patched_files(patch: str) -> Sequence[str]:
    """Return the files that a patch changes, in either patch format."""
    found: list[str] = []
    for each in _PATCHED.finditer(patch):
        name = unquote_git_name(each[1].partition("\t")[0].strip())
        if each[0].startswith(("--- ", "+++ ")):
            name = name[2:] if name[:2] in ("a/", "b/") else name
        if name != "/dev/null":
            found.append(name)
    return tuple(dict.fromkeys(found))
