"""Descriptions of Hob's tools for people; a tool's own description is written for the model."""

from collections.abc import Mapping

from hob.core.tools import Effect
from hob.core.translation.language import translatable

TOOL_WORDS: Mapping[str, str] = {
    "read": translatable("Read a file, a document, a picture or a folder."),
    "write": translatable("Write a whole file."),
    "edit": translatable("Replace a part of a file."),
    "exec": translatable("Run a command in the sandbox."),
    "recall": translatable("Look in memory for what fits a question."),
    "remember": translatable("Keep a fact for later conversations."),
    "grep": translatable("Search files for a text or pattern."),
    "glob": translatable("Find files by name."),
    "apply_patch": translatable("Change, create, delete and rename several files at once."),
    "process": translatable("List, read, write to and end commands in the background."),
    "ask_user": translatable("Ask you a question and wait for the answer."),
    "load_tools": translatable("Open one of the groups below for the conversation."),
    "list_dir": translatable("List a folder with sizes and links."),
    "resolve_path": translatable("Find the real path behind a name, and whether Hob may read or write it."),
    "web_search": translatable("Search the web."),
    "web_fetch": translatable("Read a web page, PDF or JSON file."),
    "image": translatable("Describe a picture, or answer a question about it."),
    "tts": translatable("Speak a text into a sound file."),
    "pdf": translatable("Read pages of a PDF."),
    "image_generate": translatable("Make a picture from a description."),
    "canvas": translatable("Show you a page in the dashboard."),
    "message": translatable("Write to people you know in chats."),
    "update_working_memory": translatable("Keep a note of aims, decisions and next steps for the conversation."),
    "report_progress": translatable("Tell you how far a long task is."),
    "memory_search": translatable("Search everything that was said, read or noted."),
    "memory_get": translatable("Read one item of memory, or a memory file."),
    "facts": translatable("List what is known about you."),
    "correct_fact": translatable("Correct a fact that you say is wrong."),
    "get_goals": translatable("List your goals."),
    "create_goal": translatable("Keep a goal of yours beyond the conversation."),
    "update_goal": translatable("Note progress on a goal, or that it is done or dropped."),
    "read_back": translatable("Show an earlier text again that the conversation now only names."),
    "spawn": translatable("Start a sub-agent that reads and reports; needs a running daemon (`hob serve`)."),
    "subagents": translatable("List, correct and end sub-agents."),
    "sessions_yield": translatable("Wait for the results of sub-agents."),
    "sessions_list": translatable("List conversations that may be read."),
    "sessions_history": translatable("Read what was said in another conversation."),
    "sessions_search": translatable("Search other conversations."),
    "sessions_send": translatable("Write to another conversation and wait for its answer."),
    "session_status": translatable("Show a conversation's model, size and cost."),
    "agents_list": translatable("List the kinds of sub-agents."),
    "browser": translatable("Open web pages in a browser, read them and act on them."),
    "gateway": translatable("Show Hob's status and settings."),
    "gateway_set": translatable("Change a setting to what you wrote."),
}
"""One sentence each; tools of MCP servers and plug-ins use their own descriptions."""
EFFECT_WORDS: Mapping[str, str] = {
    Effect.READS_PRIVATE: translatable("read what is yours"),
    Effect.READS_UNTRUSTED: translatable("read what others wrote"),
    Effect.WRITES: translatable("change files so that it can be undone"),
    Effect.WRITES_FINALLY: translatable("change things for good"),
    Effect.COMMUNICATES: translatable("reach other computers or people"),
    Effect.PERSISTS: translatable("leave something for later turns"),
    Effect.EXECUTES: translatable("run programs"),
}
"""Effects of tools, in words."""
ROLE_WORDS: Mapping[str, str] = {
    "paths": translatable("a path"),
    "sources": translatable("a file that is sent"),
    "recipients": translatable("people it goes to"),
    "channel": translatable("the channel"),
    "urls": translatable("an address to fetch"),
    "sent_to": translatable("an address to send to"),
    "bodies": translatable("a text that is sent"),
    "commands": translatable("a command"),
    "inputs": translatable("input of a command"),
    "directory": translatable("the folder it runs in"),
    "hosts": translatable("hosts it may reach"),
    "keys": translatable("a setting"),
    "patches": translatable("changes of files"),
    "scripts": translatable("a script"),
    "names": translatable("people or places it goes to"),
    "amounts": translatable("a sum of money"),
    "things": translatable("what it changes"),
}
"""How the guard reads an argument; harmless roles have no word."""
