"""Files of a repository, as the API returns them."""

from typing import TypedDict


class RepoRow(TypedDict):
    """An entry of a folder.

    type: `file`, `folder` or `link`
    """

    path: str
    name: str
    type: str
    depth: int
    size: int


class FileAnswer(TypedDict):
    """A file.

    cut: whether only the beginning of its content is included
    """

    path: str
    content: str
    size: int
    binary: bool
    cut: bool
