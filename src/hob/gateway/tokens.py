"""The bearer token: made once, kept in the home, compared in constant time."""

import hmac
import os
import secrets
from pathlib import Path

from hob.core.errors import NotConfigured
from hob.core.settings import Secret


def token_file(home: Path) -> Path:
    """Where a token that was made for the owner lies (0600)."""
    return home / "secrets" / "gateway-token"


def load_token(home: Path) -> str | None:
    """The token that was made at first start, or None if none was. Raises NotConfigured when it cannot be read."""
    file = token_file(home)
    try:
        return file.read_text("utf-8").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotConfigured(f"{file}: {error}; remove the file and start Hob again to make a new token") from error


def ensure_token(home: Path, configured: Secret | None) -> str:
    """The configured token, else the one in the home, made if need be. Raises NotConfigured for an unusable one."""
    if configured is not None:
        chosen = configured.reveal()
        if len(chosen) < 16:
            raise NotConfigured("gateway.auth_token is shorter than 16 characters; unset it and Hob makes a good one")
        return chosen
    kept = load_token(home)
    if kept:
        return kept
    token = secrets.token_urlsafe(32)
    file = token_file(home)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(token + "\n")
        out.flush()
        os.fsync(out.fileno())
    return token


def bearer_matches(header: str, token: str) -> bool:
    """Whether an Authorization header carries the token; takes the same time wherever they differ."""
    scheme, _, given = header.partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())
