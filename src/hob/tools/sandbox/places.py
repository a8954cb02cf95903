"""The parts of the system that commands see on their empty root: programs, and the part of /etc that programs need."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
PROGRAMS = ("/usr", "/nix/store", "/gnu/store")

# Public files only: no keys (/etc/ssl/private, /etc/pki/tls/private), accounts, mounts or services.
ETC = (
    *("alternatives", "bash.bashrc", "bash_completion.d", "ca-certificates", "ca-certificates.conf", "crypto-policies"),
    *("debian_version", "default/locale", "fonts", "gai.conf", "host.conf", "inputrc", "ImageMagick-6"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "locale.alias", "locale.conf", "lsb-release"),
    *("magic", "magic.mime", "mailcap", "manpath.config", "maven", "mime.types", "nanorc", "os-release"),
    *("perl", "profile.d", "protocols", "python3", "python3.11", "python3.12", "python3.13", "rpc", "services"),
    *("shells", "terminfo", "texmf", "timezone", "vim", "xattr.conf"),
    *("ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "ssl/ca-bundle.pem"),
    *("pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf", "pki/ca-trust", "pki/java"),
    *("java", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "php", "profile", "R"),
)


def system_links() -> Iterator[tuple[str, str]]:
    """Yield target and name of system folders that are symbolic links into /usr."""
    for name in SYSTEM_FOLDERS:
        if Path(name).is_symlink():
            yield str(Path(name).readlink()), name


def system_binds() -> Iterator[str]:
    """Yield the existing program folders, which are mounted read-only."""
    yield from (name for name in PROGRAMS if Path(name).is_dir())
    yield from (name for name in SYSTEM_FOLDERS if Path(name).is_dir() and not Path(name).is_symlink())


def write_etc(folder: Path, written: Mapping[str, str]) -> None:
    """Point `folder` at an /etc for commands: copies of the files listed above, and the files in `written`.

    Mounting one copy is cheaper than mounting each name, as a mount takes a fifth of a millisecond. Running commands
    keep the folder they started with, so the current one and its predecessor are kept. Raises OSError.
    """
    made = folder.with_name(f"{folder.name}-{_fingerprint(written)}")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="new-", ignore_cleanup_errors=True) as temporary:
        if not made.is_dir():
            fresh = Path(temporary, "etc")
            _fill(fresh, written)
            with suppress(OSError):  # another process was faster
                fresh.rename(made)
        before = folder.readlink().name if folder.is_symlink() else ""
        if before == made.name:
            return
        if not before and folder.exists():  # made by an older release
            folder.rename(Path(temporary, "old"))
        link = Path(temporary, "link")
        link.symlink_to(made.name)
        link.replace(folder)
    for each in folder.parent.glob(f"{folder.name}-*"):
        if each.name not in (made.name, before):
            shutil.rmtree(each, ignore_errors=True)


def _fingerprint(written: Mapping[str, str]) -> str:
    """Hash the metadata of the copied files, and the written texts."""
    found = hashlib.sha256(repr(sorted(written.items())).encode())
    for name in ETC:
        source = Path("/etc", name)
        inside = source.rglob("*") if source.is_dir() else ()
        for path in sorted((source, *inside)):
            with suppress(OSError):
                told = path.stat()
                found.update(f"{path} {told.st_mode} {told.st_ino} {told.st_size} {told.st_mtime_ns}\n".encode())
    return found.hexdigest()[:16]


def _fill(folder: Path, written: Mapping[str, str]) -> None:
    for name in ETC:
        source, target = Path("/etc", name), folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError, shutil.Error):  # unreadable files are left out
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, copy_function=_copy_public)
            else:
                _copy_public(str(source), str(target))
    for name, text in written.items():
        (folder / name).write_text(text, "utf-8")
    folder.chmod(0o755)


def _copy_public(source: str, target: str) -> None:
    """Copy a file that is readable by everybody (root could also read private keys), or a link to a program's file."""
    path = Path(source)
    if path.is_symlink() and str(path.readlink()).startswith(("/usr/", "../usr/")):
        Path(target).symlink_to(path.readlink())
    elif path.stat().st_mode & 0o004:
        shutil.copyfile(source, target)


# The kernel protects much of /proc by owner only: if Hob runs as root, these files stay writable inside a user
# namespace, and /proc/sys/kernel/core_pattern is a way to run programs outside. Therefore they are mounted read-only.
_KERNEL_OF_ROOT = ("acpi", "asound", "driver", "fs", "mtrr", "scsi", "sys", "tty")
_KERNEL_HIDDEN = ("keys", "key-users")


def kernel_read_only() -> Iterator[str]:
    """Yield the parts of /proc mounted read-only."""
    if os.geteuid() == 0:
        yield from (place for name in _KERNEL_OF_ROOT if Path(place := f"/proc/{name}").exists())


def kernel_hidden() -> Iterator[str]:
    """Yield the hidden parts of /proc."""
    yield from (place for name in _KERNEL_HIDDEN if Path(place := f"/proc/{name}").exists())


@contextmanager
def devices_restored() -> Iterator[None]:
    """Restore the permissions of devices, which commands could change if Hob runs as root."""
    modes = {device: device.stat().st_mode & 0o7777 for device in map(Path, _DEVICES)} if os.geteuid() == 0 else {}
    try:
        yield
    finally:
        for device, mode in modes.items():
            if device.stat().st_mode & 0o7777 != mode:
                device.chmod(mode)


def passwd_file(user: str, uid: int, gid: int, home: Path) -> str:
    """Return the accounts a command sees: its own and nobody."""
    return f"{user}:x:{uid}:{gid}::{home}:/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n"


def group_file(user: str, gid: int) -> str:
    """Return the groups a command sees."""
    return f"{user}:x:{gid}:\nnogroup:x:65534:\n"


HOSTS = "127.0.0.1 localhost sandbox\n::1 localhost\n"
NSSWITCH = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n"
