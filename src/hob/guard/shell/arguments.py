"""Argument parsing as programs do it, and tables of program names."""

import posixpath
import re
from collections.abc import Collection, Iterator

# Partially known words: text in which marker characters stand for parts that only the shell knows at run time. Program
# arguments cannot contain NUL, and the other control characters used here are stripped (and reported) before the text
# is read, so a marker is never mistaken for text.

ANY = "\x00"  # any text, possibly empty; if unquoted, possibly several words
STAR = "\x01"  # an unquoted `*`: any part of a file name
ONE = "\x02"  # an unquoted `?` or `[...]`: one character of a file name
HOME = "\x03"  # a home directory
HERE = "\x04"  # the directory in which the command starts

LONGEST = 16_384  # characters tracked in one value; a longer value becomes ANY

_SIGN = re.compile("[\x00-\x04]")
_SHOWN = {ANY: "…", STAR: "*", ONE: "?", HOME: "~", HERE: "."}
_GLOB = re.compile(r"\*+|\?|\[[^\]/\n]{1,64}\]")


def words(text: str) -> tuple[str, ...]:
    """Split a whitespace-separated table."""
    return tuple(text.split())


def is_known(value: str) -> bool:
    """Return whether the value contains no marker."""
    return _SIGN.search(value) is None


def display(value: str) -> str:
    """Return the value for display, with `…` for an unknown part."""
    return _SIGN.sub(lambda sign: _SHOWN[sign[0]], value) if _SIGN.search(value) else value


def mark_wildcards(text: str) -> str:
    """Replace the wildcards of unquoted text by markers."""
    if "*" in text or "?" in text or "[" in text:
        return _GLOB.sub(lambda found: STAR if found[0][0] == "*" else ONE, text)
    return text


def cap_length(value: str) -> str:
    """Return the value, or ANY if it is too long to track."""
    return value if len(value) <= LONGEST else ANY


def join_path(directory: str, path: str) -> str:
    """Resolve the path against the directory."""
    if not path or path[0] in "/" + HOME + ANY:
        return path or directory
    return posixpath.join(directory, path)


def possible_values(value: str) -> re.Pattern[str] | None:
    """Return a pattern of the possible values, or None if too many parts are unknown."""
    signs = _SIGN.findall(value)
    if len(signs) > 3 or len(value) > 256:
        return None
    parts = {ANY: ".*", STAR: "[^/]*", ONE: "[^/]", HOME: ".+", HERE: ".+"}
    return re.compile("".join(parts.get(char) or re.escape(char) for char in value), re.DOTALL)


def may_be(value: str, text: str) -> bool:
    """Return whether the value could be this text."""
    if value == text:
        return True
    if not _SIGN.search(value):
        return False
    found = possible_values(value)
    return found is None or found.fullmatch(text) is not None


# Program names by what the programs do.

# programs whose arguments are text, or that can only read and print
HARMLESS_PROGRAMS = frozenset(
    words("""[ alias apropos arch awk basename bat bind break cal cat cksum clear cloc cmp column comm complete
    compopt continue cowsay cut date declare df diff diff3 diffstat dir dircolors dirname dos2unix du echo egrep exa
    exit expand export expr eza factor false fgrep figlet file fmt fold free git-lfs grep groups gunzip head help
    hexdump hostid iconv id info join jobs last lastlog less let link local locale locate ls lsattr lsblk lscpu lsof
    lspci lsusb look md5sum mdls more nl nm nproc numfmt objdump od pandoc paste pathchk pgrep pr printf ps ptx pwd
    read readlink readonly readelf realpath return rev say seq set sha1sum sha224sum sha256sum sha384sum sha512sum
    shift shopt shellcheck size sleep stat strings sum tac tail test tokei top touch tput tr tree true tsort tty type
    typeset ulimit uname unexpand uniq unset uptime users vdir vmstat wait wc whatis whereis which who whoami xxd yes
    zcat zdiff zgrep zless : gh glab jira""")
) - {"awk", "less"}

# an argument that names one of these starts a nested command if the outer program may run its arguments
DANGEROUS_PROGRAMS = frozenset(
    words("""rm rmdir unlink shred srm wipe dd mkfs mke2fs mkswap wipefs blkdiscard parted fdisk sfdisk gdisk sgdisk
    cryptsetup hdparm nvme shutdown reboot halt poweroff init telinit systemctl kill killall pkill insmod modprobe
    rmmod sysctl iptables nft swapoff crontab chmod chown chattr setfacl setcap useradd usermod userdel passwd visudo
    truncate curl wget nc ncat socat""")
) | {f"mkfs.{kind}" for kind in ("ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "fat", "ntfs", "f2fs", "exfat")}

# these are also subcommand names of other programs: `git init`, `docker kill`, `vagrant halt`
AMBIGUOUS_NAMES = frozenset({"init", "halt", "reboot", "shutdown", "poweroff", "kill"})
SHUTDOWN_TIMES = frozenset({"now", *"0123456"})  # arguments of these names when they are programs

# the options of these determine what they run; a dangerous name among their arguments is a file, package or page
UNDERSTOOD_PROGRAMS = frozenset(
    words("""git tar gtar bsdtar cd pushd mkdir cp mv ln install man tldr info apt apt-get aptitude apk dnf yum pacman
    zypper brew port snap pip pip3 pipx gem cpan cpanm luarocks dpkg rpm pytest set""")
)

# programs that fetch content written by others
DOWNLOADERS = frozenset(
    {"curl", "wget", "fetch", "aria2c", "http", "https", "httpie", "xh", "lynx", "w3m", "lwp-request"}
)

# programs that turn unreadable data into readable text
DECODERS = frozenset({"base64", "base32", "xxd", "openssl", "rev", "uudecode", "gpg", "gzip", "gunzip", "zcat", "tr"})


Args = tuple[str, ...]


def after_options(args: Args, valued: Collection[str] = (), operands: int = 0, assigns: bool = False) -> Args:
    """Return the arguments after options (`valued` ones take a value), some operands and `NAME=value` pairs."""
    at = 0
    while at < len(args):
        arg = args[at]
        if arg == "--":
            at += 1
            break
        if arg[:1] == "-" and arg != "-":
            at += 2 if arg in valued else 1
        elif assigns and "=" in arg and arg.partition("=")[0].replace("_", "a").isalnum():
            at += 1
        else:
            break
    at += operands
    while assigns and at < len(args) and "=" in args[at] and args[at].partition("=")[0].replace("_", "a").isalnum():
        at += 1
    return args[at:]


def operands(args: Args, valued: Collection[str] = ()) -> list[str]:
    """Return the arguments that are neither options nor values of `valued` options."""
    found: list[str] = []
    at = 0
    while at < len(args):
        arg = args[at]
        if arg == "--":
            found.extend(args[at + 1 :])
            break
        if arg[:1] == "-" and len(arg) > 1:
            at += 2 if arg in valued else 1
            continue
        found.append(arg)
        at += 1
    return found


def option_values(args: Args, *options: str) -> Iterator[str]:
    """Yield the values of these options in every notation: `-e x`, `-ex`, `--exec x`, `--exec=x`."""
    for at, arg in enumerate(args):
        if arg == "--":
            return
        for option in options:
            if arg == option:
                if at + 1 < len(args):
                    yield args[at + 1]
            elif arg.startswith(option + "="):
                yield arg[len(option) + 1 :]
            elif len(option) == 2 and arg.startswith(option) and arg[1] != "-":
                yield arg[2:]


def has_option(args: Args, letters: str = "", *options: str) -> bool:
    """Return whether one of the options is given, as a letter alone or in a cluster, or as a long option, possibly
    abbreviated.
    """
    for arg in args:
        if arg == "--":
            return False
        if arg[:2] == "--":
            name = arg.partition("=")[0]
            if any(name == option or (len(name) > 4 and option.startswith(name)) for option in options):
                return True
        elif arg[:1] == "-" and (arg in options or any(letter in arg[1:] for letter in letters)):
            return True
    return False


def split_clusters(args: Args, valued: str) -> Args:
    """Split clusters of one-letter options; letters in `valued` take the rest of the cluster as their value."""
    found: list[str] = []
    for arg in args:
        if len(arg) < 3 or arg[0] != "-" or arg[1] == "-":
            found.append(arg)
            continue
        for at in range(1, len(arg)):
            found.append("-" + arg[at])
            if arg[at] in valued:
                if arg[at + 1 :]:
                    found.append(arg[at + 1 :])
                break
    return tuple(found)
