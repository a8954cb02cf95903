"""Hob's own tools as data: those that are always shown, and the groups that sessions can open.

Descriptions are short, because everything shown is part of every request and paid for with every message
(`tests/tools/registry/test_builtin_groups.py` limits the size).
"""

from hob.core.tools import ToolGroup
from hob.tools.canvas.specs import CANVAS
from hob.tools.editing.specs import APPLY_PATCH, EDIT, WRITE
from hob.tools.exec.specs import EXEC, PROCESS
from hob.tools.filesystem.specs import GLOB, GREP, LIST_DIR, READ, RESOLVE_PATH
from hob.tools.media.specs import IMAGE, IMAGE_GENERATE, PDF, TTS
from hob.tools.memory.specs import (
    CORRECT_FACT,
    CREATE_GOAL,
    FACTS,
    GET_GOALS,
    MEMORY_GET,
    MEMORY_SEARCH,
    RECALL,
    REMEMBER,
    UPDATE_GOAL,
    UPDATE_WORKING_MEMORY,
)
from hob.tools.messages.specs import ASK_USER, MESSAGE, REPORT_PROGRESS
from hob.tools.web.specs import WEB_FETCH, WEB_SEARCH

_SHOWN = (READ, WRITE, EDIT, EXEC, RECALL, REMEMBER, GREP, GLOB, APPLY_PATCH, PROCESS, ASK_USER)
_NOTES = (
    *(UPDATE_WORKING_MEMORY, REPORT_PROGRESS, MEMORY_SEARCH, MEMORY_GET, FACTS, CORRECT_FACT),
    *(GET_GOALS, CREATE_GOAL, UPDATE_GOAL),
)
BUILTIN_GROUPS = (
    ToolGroup("shown", "", _SHOWN, shown=True),
    ToolGroup("files", "folder trees, real paths", (LIST_DIR, RESOLVE_PATH)),
    ToolGroup("web", "search, read pages", (WEB_SEARCH, WEB_FETCH)),
    ToolGroup("media", "pictures, speech, PDF pages", (IMAGE, TTS, PDF, IMAGE_GENERATE)),
    ToolGroup("canvas", "pages shown to the user", (CANVAS,)),
    ToolGroup("messages", "write, edit, react in chats", (MESSAGE,)),
    ToolGroup("notes", "work, memory, facts, goals", _NOTES),
)
