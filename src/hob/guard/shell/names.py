"""Names of programs, by what they do."""

from hob.guard.shell.values import words

# their arguments are text, or they can do nothing but read and print
HARMLESS = frozenset(
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

# if one of these stands somewhere in the arguments of a program that may run it, it is judged as a command
FEARED = frozenset(
    words("""rm rmdir unlink shred srm wipe dd mkfs mke2fs mkswap wipefs blkdiscard parted fdisk sfdisk gdisk sgdisk
    cryptsetup hdparm nvme shutdown reboot halt poweroff init telinit systemctl kill killall pkill insmod modprobe
    rmmod sysctl iptables nft swapoff crontab chmod chown chattr setfacl setcap useradd usermod userdel passwd visudo
    truncate curl wget nc ncat socat""")
) | {f"mkfs.{kind}" for kind in ("ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "fat", "ntfs", "f2fs", "exfat")}

# these are also what other programs call their parts: `git init`, `docker kill`, `vagrant halt`
SUBCOMMANDS = frozenset({"init", "halt", "reboot", "shutdown", "poweroff", "kill"})
WHEN = frozenset({"now", *"0123456"})  # what follows them where they are programs

# what these run is known from their options; a feared name in their arguments is a file, a package, a page
KNOWN = frozenset(
    words("""git tar gtar bsdtar cd pushd mkdir cp mv ln install man tldr info apt apt-get aptitude apk dnf yum pacman
    zypper brew port snap pip pip3 pipx gem cpan cpanm luarocks dpkg rpm pytest set""")
)

# fetch what others wrote
DOWNLOADERS = frozenset(
    {"curl", "wget", "fetch", "aria2c", "http", "https", "httpie", "xh", "lynx", "w3m", "lwp-request"}
)

# make something readable of what is not
DECODERS = frozenset({"base64", "base32", "xxd", "openssl", "rev", "uudecode", "gpg", "gzip", "gunzip", "zcat", "tr"})
