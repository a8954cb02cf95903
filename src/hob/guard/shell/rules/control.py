"""System control: power, kernel, network filters, accounts, services, processes."""

import re
from collections.abc import Iterator

from hob.core.translation.language import translatable
from hob.guard.shell.arguments import STAR, has_option, operands, words
from hob.guard.shell.command_context import Rule, RuleInput, Rules, ShellFinding, asks, refuses

_POWER = frozenset(
    words("""poweroff reboot halt kexec suspend hibernate hybrid-sleep suspend-then-hibernate rescue emergency
    default isolate exit soft-reboot switch-root set-default""")
)
_READS = frozenset(
    words("""status show cat list-units list-unit-files list-timers list-sockets list-dependencies list-jobs
    is-active is-enabled is-failed help get-default list-machines show-environment is-system-running list-sessions
    list-users""")
)
_SIGNALS = re.compile(r"-(?:[0-9]{1,2}|(?:SIG)?[A-Z]+)|-s|--signal|-n")


def _unless(reads: str, reason: str, bare: bool = True) -> Rule:
    """Refuse unless all arguments match. `bare` says whether the command is allowed without arguments."""
    harmless = re.compile(reads)

    def rule(rule_input: RuleInput) -> Iterator[ShellFinding]:
        args = rule_input.args
        if not (all(harmless.fullmatch(arg) for arg in args) if args else bare):
            yield rule_input.refuse("system-control", reason)

    return rule


def service(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `systemctl` and similar service managers."""
    words = operands(rule_input.args, ("-H", "-M", "-p", "-t", "-o", "-n", "-s", "--signal", "--property", "--type"))
    action = words[1] if rule_input.name == "service" and len(words) > 1 else words[0] if words else ""
    if action in _POWER or any(word.startswith(("poweroff.target", "reboot.target", "halt.target")) for word in words):
        yield rule_input.refuse(
            "system-control",
            translatable("{command} changes the state of the whole system", command=f"{rule_input.name} {action}"),
        )
    elif action and action not in _READS:
        yield rule_input.ask("service-control", "it changes what runs on this computer")


def bus(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge messages to system services."""
    if re.search("login1|PowerOff|Reboot|Halt|Suspend|systemd1", " ".join(rule_input.args)):
        yield rule_input.refuse("system-control", "it asks the system to stop or change")
    elif not {"introspect", "tree", "list"} & set(rule_input.args):
        yield rule_input.ask("service-control", "it sends commands to services of this computer")


def kill(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `kill` of all processes or of the first one."""
    args = rule_input.args
    if args[:1] == ("-l",):
        return
    at = 0
    if args[:1] and _SIGNALS.fullmatch(args[0]):
        at = 2 if args[0] in ("-s", "--signal", "-n") else 1
        if args[0] == "-1" and len(args) == 1:
            at = 0
    targets = [arg for arg in args[at:] if arg != "--"]
    if any(target in ("-1", "1", "0", "-0") and not (target == "0" and len(targets) > 1) for target in targets):
        yield rule_input.refuse("system-control", "it ends processes that are not its own")


def kill_by_name(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `pkill` and `killall`."""
    names = operands(rule_input.args, ("-u", "-U", "-g", "-t", "-s", "--signal", "-G", "--user"))
    everything = any(name in ("", ".", ".*", "^", STAR, f".{STAR}", "[a-z]") for name in names)
    core = any(re.search(r"^\^?(systemd|init|launchd|sshd|dbus|login|Xorg|gnome-shell|kernel)", name) for name in names)
    if (
        everything
        or core
        or has_option(rule_input.args, "uU", "--user", "--euid", "--uid")
        or rule_input.name == "killall5"
    ):
        yield rule_input.refuse("system-control", "it ends processes that are not its own")


def table(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `crontab`."""
    if has_option(rule_input.args, "r"):
        yield rule_input.refuse("system-control", "it deletes all scheduled jobs")
    elif rule_input.args != ("-l",):
        yield rule_input.ask("persistence", "it schedules what runs later, by itself")


_INIT = refuses("system-control", "it changes the state of the whole system", unless=(("--version",),))
_KERNEL = translatable("it changes the running kernel")
_FIREWALL = translatable("it changes the rules of the network")
_ACCOUNTS = translatable("it changes the accounts of this computer")
_NETWORK = translatable("it changes the network of this computer")
_SETTINGS = translatable("it changes the computer's settings")
_LISTS = (
    r"-[LSnvxt]+|--list(-rules)?|--line-numbers|filter|nat|mangle|list|ruleset|tables?|status|verbose|numbered|--state|"
    r"[A-Z]+"
)

RULES: Rules = {
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff", "pm-suspend", "pm-hibernate"),
        refuses("system-control", "it stops the computer"),
    ),
    "hob": refuses(  # its commands act with the owner's authority
        "own-state",
        "it would speak to Hob in the owner's name",
        unless=(("--version",), ("-V",), ("--help",), ("-h",)),
    ),
    "init": _INIT,
    "telinit": _INIT,
    **dict.fromkeys(("systemctl", "loginctl", "service", "rc-service", "launchctl", "machinectl", "initctl"), service),
    **dict.fromkeys(("dbus-send", "gdbus", "busctl", "qdbus"), bus),
    "kill": kill,
    **dict.fromkeys(("pkill", "killall", "killall5", "skill"), kill_by_name),
    "sysctl": _unless(r"-[anNeq]+|--all|--pattern|[a-z0-9_]+(\.[a-z0-9_*-]+)+", _KERNEL, bare=False),
    **dict.fromkeys(
        ("modprobe", "insmod", "rmmod", "kexec", "depmod", "kmod", "setenforce"), refuses("system-control", _KERNEL)
    ),
    **dict.fromkeys(("iptables", "ip6tables", "ebtables"), _unless(_LISTS, _FIREWALL)),
    **dict.fromkeys(
        ("nft", "ufw", "firewall-cmd", "pfctl", "iptables-restore"), _unless(_LISTS, _FIREWALL, bare=False)
    ),
    **dict.fromkeys(("swapoff", "swapon", "umount"), _unless(r"--show|-s|--summary|--version|--help", _KERNEL)),
    "mount": _unless(r"-l|--version|--help|-V|-t|ext4|tmpfs", "it changes what is mounted"),
    "crontab": table,
    **dict.fromkeys(
        ("at", "batch"),
        asks("persistence", "it schedules what runs later, by itself", unless=(("-l",), ("-V",))),
    ),
    **dict.fromkeys(
        words("""passwd usermod useradd userdel groupadd groupdel groupmod adduser deluser addgroup delgroup chpasswd
        visudo vipw vigr chsh chfn gpasswd newusers pwconv dscl sysadminctl"""),
        refuses("system-control", _ACCOUNTS),
    ),
    "ifconfig": _unless(r"-a|-s|-v|[a-z]+\d+|lo", _NETWORK),
    "ip": _unless(
        r"-\w+|addr|a|address|link|l|route|r|neigh|n|rule|show|list|ls|get|dev|[a-z]+\d+|lo|netns|[\d.:/a-f]+", _NETWORK
    ),
    "route": _unless(r"-n|-e|-[46]", _NETWORK),
    "nmcli": _unless(r"-\S+|device|dev|d|con|connection|c|show|status|general|list|g|wifi|radio", _NETWORK),
    "rfkill": _unless("list|-\\S+", _NETWORK),
    **dict.fromkeys(("timedatectl", "hostnamectl", "localectl"), _unless("status|show|list-\\S+|-\\S+", _SETTINGS)),
    "hostname": _unless("-\\w+", "it changes the computer's name"),
    "hwclock": _unless("-r|--show|-v", "it changes the computer's clock"),
    **dict.fromkeys(("csrutil", "nvram", "pmset"), _unless("-p|-g|status", _SETTINGS)),
    **dict.fromkeys(("aa-teardown", "aa-disable", "update-initramfs"), refuses("system-control", _SETTINGS)),
}
