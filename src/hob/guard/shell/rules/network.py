"""Commands that reach other computers (curl, ssh, mail, publishing packages, …): which hosts, and whether they send."""

import re
from collections.abc import Iterator

from hob.core.tools import Effect
from hob.core.translation.language import translatable
from hob.guard.shell.arguments import ANY, Args, display, has_option, operands, option_values, split_clusters, words
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding, asks
from hob.guard.shell.rules.deletion import judge_write

SENDS = frozenset({Effect.COMMUNICATES})

_URL = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*:)?//(?:[^/@\s]*@)?(\[[0-9a-fA-F:.]+\]|[^/:?#\s]+)|^(?:[\w.-]+@)([\w.-]+):", re.IGNORECASE
)
_BARE = re.compile(
    r"^(?:[\w-]+\.)+[A-Za-z]{2,}(?=[/:?#]|$)|^(?:\d{1,3}\.){3}\d{1,3}(?=[/:?#]|$)|^localhost(?=[/:?#]|$)"
)
_LOCAL = re.compile(r"localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0|.*\.localhost|host\.docker\.internal")
_CURL_DATA = words("-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string")
_CURL_VALUED = (
    *_CURL_DATA,
    *words("""-T --upload-file -X --request -H --header -o --output -u --user -A -b -c -e -x --proxy -K --config
    -m --max-time --connect-timeout --retry -w --write-out --cacert -E --cert --key --resolve
    --interface --retry-delay -r --range --cookie --user-agent -D --unix-socket --abstract-unix-socket --connect-to
    --preproxy --socks4 --socks4a --socks5 --socks5-hostname --url --output-dir -C -z
    --limit-rate --oauth2-bearer"""),
)
_CURL_PROXIES = words("-x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname")
_WGET_VALUED = ("-O", "-o", "-P", "-t", "-T", "-U", "-e", "-i", "--header", "-a", "-w", "-Q", "-A", "-R", "-D", "-l")


def find_host(text: str) -> str:
    """Return the host of a URL or of `user@host:path`; "" if there is none."""
    found = _URL.match(text)
    return display((found[1] or found[2] or "").strip("[]")) if found is not None else ""


def find_hosts(texts: list[str]) -> Args:
    """Return the hosts of these addresses, with or without a scheme."""
    found = (find_host(text) or ((bare := _BARE.match(text)) and bare[0]) or "" for text in texts)
    return tuple(dict.fromkeys(host for host in found if host))


def is_local(hosts: Args) -> bool:
    """Return whether there are hosts and all of them are this computer."""
    return bool(hosts) and all(_LOCAL.fullmatch(host) for host in hosts)


def curl(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `curl`."""
    args = split_clusters(rule_input.args, "oHdAuXTFebcwmKxEzDrC")
    urls = [*operands(args, _CURL_VALUED), *option_values(args, "--url"), *_redirect_targets(args)]
    hosts = find_hosts(urls)
    if any(each.startswith(("--unix-s", "--abstract-u")) for each in args):
        yield rule_input.ask("raw-socket", translatable("it talks to another program on this machine"), SENDS, hosts)
    data = [*option_values(args, *_CURL_DATA)]
    sent = [*option_values(args, "-T", "--upload-file")]
    method = next(iter(option_values(args, "-X", "--request")), "GET").upper()
    headers = option_values(args, "-H", "--header", "-A", "--user-agent", "-e", "--referer", "-b", "--cookie")
    files = sent or [
        each for each in data if re.match(r"[\w-]*@|-$", each) or "=@" in each or "=<" in each or ANY in each
    ]
    files += [each for each in headers if ANY in each]
    yield from _judge_transfer(
        rule_input, urls, hosts, bool(files), bool(data) or method not in ("GET", "HEAD", "OPTIONS")
    )
    for target in option_values(args, "-o", "--output", "--output-dir", "-D", "-c", "--cookie-jar", "--dump-header"):
        if target != "-":
            yield from judge_write(rule_input, target)
    if any(option_values(args, "-K", "--config")):
        yield rule_input.ask("sending", "what it does is in a file of settings")
    if any(url.startswith(("file:", "gopher:", "dict:", "telnet:", "ldap:", "smtp")) for url in urls):
        yield rule_input.ask("sending", "it uses an unusual protocol")


def _redirect_targets(args: Args) -> Iterator[str]:
    """Yield the hosts that `curl` connects to instead of the host of the URL."""
    yield from option_values(args, *_CURL_PROXIES)
    for each in option_values(args, "--resolve", "--connect-to"):  # HOST:PORT:ADDRESS…
        yield each.split(":", 2)[-1]


def wget(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `wget`."""
    args = split_clusters(rule_input.args, "OoPtTUeiawQARDl")
    urls = operands(args, _WGET_VALUED)
    body = [*option_values(args, "--post-data", "--body-data"), *option_values(args, "--post-file", "--body-file")]
    headers = [*option_values(args, "--header", "-U", "--user-agent", "--referer")]
    files = bool([*option_values(args, "--post-file", "--body-file")]) or any(ANY in each for each in (*body, *headers))
    yield from _judge_transfer(rule_input, urls, find_hosts(urls), files, bool(body))
    for target in option_values(args, "-O", "--output-document", "-P", "--directory-prefix", "-o"):
        if target != "-":
            yield from judge_write(rule_input, target)


def client(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge other programs that fetch URLs: `http`, `aria2c`, `lynx`."""
    words = operands(rule_input.args, ("-o", "-d", "-a", "-A", "--auth"))
    sends = any(re.search(r"[\w-](:?=@?|@)", word) and "://" not in word for word in words) and rule_input.name in (
        "http",
        "https",
        "xh",
        "httpie",
    )
    files = any(re.search(r"@\S|=@", word) and "://" not in word for word in words) and sends
    yield from _judge_transfer(rule_input, words, find_hosts(words), files, sends)


def _judge_transfer(
    rule_input: RuleInput, urls: list[str], hosts: Args, files: bool, body: bool
) -> Iterator[ShellFinding]:
    if not urls and not files:
        return
    if is_local(hosts) and all(find_hosts([url]) for url in urls if "." in url or "/" in url):
        return
    if files:
        yield rule_input.ask(
            "sending",
            translatable("it sends data to {host}", host=", ".join(hosts) or "another computer"),
            SENDS,
            hosts,
        )
    elif any(ANY in url for url in urls):
        yield rule_input.ask("sending", "the address that it asks for is made of data", SENDS, hosts)
    else:
        what = "sends to" if body else "fetches from"
        yield rule_input.note("network", f"it {what} {', '.join(hosts) or 'another computer'}", SENDS, hosts)


def socket(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge raw connections: `nc`, `socat`, `telnet`."""
    words = operands(rule_input.args, ("-w", "-p", "-s", "-i", "-X", "-x", "-e", "-c"))
    hosts = find_hosts(words) or tuple(words[:1])
    probes = has_option(rule_input.args, "z") and not has_option(rule_input.args, "lec")
    local = (
        all(_LOCAL.fullmatch(host) for host in hosts)
        and bool(hosts)
        and not has_option(rule_input.args, "lec", "--exec", "--listen")
    )
    if rule_input.name == "socat":
        addresses = [re.split(r"[:,]", word) for word in words]
        hosts = tuple(
            each[1] for each in addresses if len(each) > 2 and re.match("tcp|udp|openssl", each[0], re.IGNORECASE)
        )
        local = False
    if rule_input.args in (("-h",), ("--version",)) or (local and (probes or rule_input.name != "socat")):
        return
    if probes:
        yield rule_input.note("network", "it looks whether a port is open", SENDS, hosts)
    else:
        yield rule_input.ask("raw-socket", "it opens a connection that can carry anything", SENDS, hosts)


def shell(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `ssh`."""
    args = rule_input.args
    named = operands(args, words("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"))
    host = (named[0].rpartition("@")[2],) if named else ()
    if has_option(args, "RDLwW"):
        yield rule_input.ask("raw-socket", "it opens a tunnel", SENDS, host)
    elif rule_input.command.stdin is not None:
        yield rule_input.ask("sending", "it sends what it reads to another computer", SENDS, host)
    elif host:
        yield rule_input.note("network", f"it runs on {display(host[0])}", SENDS, host)


def copy(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge copies to or from another computer: `scp`, `rsync`, `sftp`."""
    named = operands(
        rule_input.args, words("-c -F -i -J -l -o -P -S -e --rsh --exclude --include --filter -f --bwlimit -b -p")
    )
    remote = [re.match(r"(?:[\w.-]+@)?([\w.-]+):(?!\\)|rsync://([^/:]+)", display(word)) for word in named]
    hosts = tuple((found[1] or found[2]) for found in remote if found is not None)
    if rule_input.name in ("sftp", "lftp", "ftp", "tftp"):
        hosts = hosts or tuple(word.rpartition("@")[2] for word in named[:1])
        yield rule_input.ask("sending", "it can send files to another computer", SENDS, hosts)
    elif remote and remote[-1] is not None:
        yield rule_input.ask("sending", translatable("it sends files to {host}", host=hosts[-1]), SENDS, hosts)
    elif hosts:
        yield rule_input.note("network", f"it fetches files from {hosts[0]}", SENDS, hosts)


def lookup(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `dig` and `ping`, since the names they look up can carry data."""
    words = [
        word
        for word in operands(rule_input.args, ("-t", "-c", "-W", "-i", "-p", "-s", "-q", "-w"))
        if word[:1] not in "@+"
    ]
    hosts = tuple(word for word in words if "." in word or ANY in word)
    if any(ANY in word for word in (*words, *rule_input.args)):
        yield rule_input.ask("sending", "the name that it asks for is made of data", SENDS, tuple(map(display, hosts)))
    elif hosts and not is_local(hosts):
        long = any(len(label) > 40 for host in hosts for label in host.split("."))
        make = rule_input.ask if long else rule_input.note
        yield make("sending" if long else "network", "it asks for a name in the network", SENDS, hosts)


def tls(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `openssl s_client`."""
    if set(rule_input.args[:1]) & {"s_client", "s_server"}:
        yield rule_input.ask("raw-socket", "it opens a connection that can carry anything", SENDS)


def devices(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `/dev/tcp/host/port` in redirections and arguments."""
    for text in (*(at.target for at in rule_input.command.redirections), *rule_input.args):
        if "/dev/tcp/" in text or "/dev/udp/" in text:
            if rule_input.name in ("echo", "printf", "grep", "rg", "git") and text in rule_input.args:
                continue
            host = text.partition("/dev/")[2].split("/")[1:2]
            yield rule_input.ask("raw-socket", "the shell itself opens a connection", SENDS, tuple(map(display, host)))
            return


def share(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge uploads to services: `aws s3 cp`, `gh gist create`, `rclone copy`."""
    words = " ".join(rule_input.args)
    if re.search(_SHARES[rule_input.name], words):
        yield rule_input.ask("sending", "it sends files to a service", SENDS)
    elif rule_input.name in ("gh", "glab") and rule_input.args[:1] not in (("--version",), ("help",), ("--help",)):
        host = "github.com" if rule_input.name == "gh" else "gitlab.com"
        changes = re.search(
            r"\b(delete|archive|transfer)\b|-X\s*(DELETE|PUT|PATCH)|--method\s+(DELETE|PUT|PATCH)", words
        )
        make = rule_input.ask if changes else rule_input.note
        yield make(
            "remote-deletion" if changes else "network", translatable("it talks to {host}", host=host), SENDS, (host,)
        )


_SHARES = {
    "aws": r"^s3 (cp|sync|mv)|s3api put|lambda invoke",
    "gsutil": r"\b(cp|rsync|mv)\b",
    "rclone": r"\b(copy|sync|move|copyto|moveto|rcat)\b",
    "gh": r"^gist create|^release upload|^secret set|^api .*(-f|-F|--field|--input|-X POST)",
    "glab": r"^snippet create",
    "az": r"storage blob upload",
    "gcloud": r"storage (cp|rsync)",
    "ipfs": r"^add",
    "npm": r"^(publish|unpublish|deprecate|owner|token|adduser|login)",
    "yarn": r"^(npm )?publish",
    "pnpm": r"^publish",
    "cargo": r"^(publish|yank|login|owner)",
    "gem": r"^(push|yank|owner)",
    "twine": r"^upload",
    "uv": r"^publish",
    "poetry": r"^publish",
    "flit": r"^publish",
    "helm": r"^push|^(cm-)?push",
    "mvn": r"\bdeploy\b",
    "heroku": r"",
    "fly": r"deploy|destroy",
    "vercel": r"",
    "netlify": r"deploy",
    "wrangler": r"deploy|publish|delete",
    "firebase": r"deploy",
}


def _hosts(args: Args) -> Args:
    return find_hosts(operands(args))


_MAIL = asks("sending", "it sends mail", SENDS, hosts=_hosts)
_TUNNEL = asks("sending", "it opens this computer to the network", SENDS, hosts=_hosts)
RULES: Rules = {
    "curl": curl,
    "wget": wget,
    **dict.fromkeys(("http", "https", "httpie", "xh", "aria2c", "lynx", "w3m", "links", "fetch", "axel"), client),
    **dict.fromkeys(("nc", "ncat", "netcat", "socat", "telnet", "pwncat"), socket),
    "openssl": tls,
    **dict.fromkeys(("ssh", "mosh", "autossh"), shell),
    **dict.fromkeys(("scp", "rsync", "sftp", "lftp", "ftp", "tftp"), copy),
    **dict.fromkeys(
        ("dig", "nslookup", "host", "drill", "ping", "ping6", "traceroute", "mtr", "whois", "resolvectl", "getent"),
        lookup,
    ),
    **dict.fromkeys(
        ("mail", "mailx", "sendmail", "mutt", "msmtp", "swaks", "ssmtp", "mpack", "s-nail", "neomutt"), _MAIL
    ),
    **dict.fromkeys(
        ("ngrok", "cloudflared", "lt", "localtunnel", "bore", "tailscale", "wormhole", "croc", "chisel", "frpc"),
        _TUNNEL,
    ),
    **dict.fromkeys(
        ("wall", "write", "smbclient", "nmap", "masscan", "hydra", "kcat", "mosquitto_pub"),
        asks("sending", "it reaches other computers or people", SENDS, hosts=_hosts),
    ),
    **dict.fromkeys(_SHARES, share),
}
