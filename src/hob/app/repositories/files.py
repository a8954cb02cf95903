"""Files of a repository for its owner, confined to its folder; links are followed only within it."""

import os
from pathlib import Path, PurePosixPath
from stat import S_ISDIR, S_ISREG

from hob.core.content.repository_files import FileAnswer, RepoRow
from hob.core.errors import InvalidRequest, NotFound
from hob.core.translation.language import translatable

_MAX_ROWS = 2_000
_MAX_TEXT = 200_000
_MAX_BYTES = 50_000_000
_MAX_REPOSITORIES = 200


def inside(path: str) -> str:
    """Return the path if it stays in the folder and outside `.git`. Raises NotFound."""
    parts = PurePosixPath(path).parts
    odd = path.startswith("/") or "\0" in path or any(part == ".." or part.casefold() == ".git" for part in parts)
    if odd or len(path) > 4_000:
        raise NotFound(translatable("{path} is not in this repository", path=path[:200]))
    return str(PurePosixPath(*parts)) if parts else ""


def resolve_inside(root: Path, path: str) -> Path:
    """Resolve a path, following links that stay in the folder. Raises NotFound."""
    try:
        found = (root / inside(path)).resolve(strict=True)
    except (OSError, RuntimeError):
        found = None
    if found is None or not found.is_relative_to(root) or ".git" in found.relative_to(root).parts:
        raise NotFound(translatable("{path} is not in this repository", path=path[:200]))
    return found


def list_folder(root: Path, path: str) -> list[RepoRow]:
    """List a folder, subfolders first. Raises NotFound."""
    folder = resolve_inside(root, path)
    if not folder.is_dir():
        raise NotFound(translatable("{path} is not a folder", path=path))
    base, depth = inside(path), len(PurePosixPath(inside(path)).parts)
    rows: list[RepoRow] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name == ".git":
                continue
            told = entry.stat(follow_symlinks=False)
            kind = "folder" if S_ISDIR(told.st_mode) else "file" if S_ISREG(told.st_mode) else "link"
            name = entry.name.encode("utf-8", "replace").decode()
            size = told.st_size if kind == "file" else 0
            way = f"{base}/{name}" if base else name
            rows.append({"path": way, "name": name, "type": kind, "depth": depth, "size": size})
    return sorted(rows, key=lambda row: (row["type"] != "folder", str(row["name"]).casefold()))[:_MAX_ROWS]


def read_text_file(root: Path, path: str) -> FileAnswer:
    """Return the beginning of a text file. Raises NotFound."""
    file = _resolve_file(root, path)
    with file.open("rb") as opened:
        data = opened.read(_MAX_TEXT)
    binary, size = b"\0" in data or data.startswith(b"%PDF-"), file.stat().st_size
    text = "" if binary else data.decode("utf-8", "replace")
    return {"path": path, "content": text, "size": size, "binary": binary, "cut": not binary and size > _MAX_TEXT}


def read_bytes(root: Path, path: str) -> bytes:
    """Return the bytes of a file. Raises NotFound, InvalidRequest if it is too large."""
    with _resolve_file(root, path).open("rb") as opened:
        data = opened.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise InvalidRequest(
            translatable("{path} has more than {count} bytes; open it in its folder", path=path, count=str(_MAX_BYTES))
        )
    return data


def _resolve_file(root: Path, path: str) -> Path:
    file = resolve_inside(root, path)
    if not file.is_file():
        raise NotFound(translatable("{path} is not a file", path=path))
    return file


def find_repositories(root: Path) -> list[str]:
    """Return the paths of repositories in the folder, up to two levels below."""
    found: list[str] = []
    waiting = [(".", 0)]
    while waiting and len(found) < _MAX_REPOSITORIES:
        path, depth = waiting.pop()
        names = _subfolders(f"{root}/{path}")
        if ".git" in names:
            found.append(path)
        if depth < 2:
            below = sorted((name for name in names if not name.startswith(".")), reverse=True)
            waiting += [(name if path == "." else f"{path}/{name}", depth + 1) for name in below]
    return found


def _subfolders(folder: str) -> list[str]:
    """Return the names of a folder's subfolders; none if it cannot be read. Links are not followed."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
