"""Destroying disks, partitions and firmware."""

import re
from collections.abc import Iterator

from hob.core.translation.language import translatable
from hob.guard.shell.arguments import words
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding, refuses

# with only these arguments the programs just print information
_INFORMS = re.compile(
    r"-l|--list|-L|--help|-h|--version|-V|-v|-I|-i|-s|-d|-p|-n|-t|--dump|--verify|--no-act|--info|--detail|--scan|-D|"
    r"list|print|status|info|luksDump|isLuks|id-ctrl|smart-log|get|show|/dev/\S*|/dev"
)
_TOOLS = words("""wipefs blkdiscard fdisk cfdisk sfdisk gdisk cgdisk sgdisk parted partx cryptsetup hdparm sdparm
nvme mdadm tune2fs resize2fs debugfs xfs_db lvremove vgremove pvremove lvreduce lvresize pvcreate vgcreate zpool
dmsetup losetup badblocks flashrom ddrescue scrub efibootmgr grub-install grub2-install update-grub extlinux zerofree
sg_format mkswap format diskutil newfs newfs_msdos mkisofs_dev e2fsck fsck bcdedit fwupdmgr nwipe""")


def tool(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Refuse a program that changes devices, unless it only prints information."""
    name, args = rule_input.name, rule_input.args
    if name == "diskutil":
        harmless = args[:1] in (("list",), ("info",))
    else:
        harmless = any("/dev" not in arg for arg in args) and all(_INFORMS.fullmatch(arg) for arg in args) and not (
            name in ("wipefs", "blkdiscard", "mkswap", "e2fsck", "fsck") and not {"-n", "--no-act"} & set(args)
        )  # fmt: skip
        harmless = harmless or (
            name in ("zpool", "dmsetup", "losetup") and args[:1] in ((), ("list",), ("status",), ("ls",))
        )
        harmless = harmless and not (name == "hdparm" and any(arg.startswith("--") for arg in args))
    if not harmless:
        yield rule_input.refuse("device-destruction", translatable("{program} can destroy a disk", program=name))


def dataset(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `zfs destroy` and `btrfs subvolume delete`."""
    if {"destroy", "delete", "rollback", "wipe"} & set(rule_input.args):
        yield rule_input.refuse("device-destruction", "it destroys a volume")


_MAKES = refuses("device-destruction", "it makes a new file system where there may be one", unless=())

RULES: Rules = {
    "mkfs": _MAKES,
    **{f"mkfs.{kind}": _MAKES for kind in words("ext2 ext3 ext4 xfs btrfs vfat fat ntfs f2fs exfat minix jfs")},
    **dict.fromkeys(("mke2fs", "mkntfs", "mkdosfs", "mkexfatfs", "mkreiserfs"), _MAKES),
    **dict.fromkeys(_TOOLS, tool),
    "zfs": dataset,
    "btrfs": dataset,
}
