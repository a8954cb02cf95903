"""Sanitizing of message contents: deceptive characters, unwanted file types, and forwarded text that would pass as the
sender's own.
"""

from dataclasses import replace

from hob.core.content.media_types import matches_media_type
from hob.core.messages import Attachment, Inbound, Quoted
from hob.core.screening.characters import neutralise
from hob.core.trust.labels import HOB_LABEL, Label, Origin, Trust
from hob.core.trust.pasted import split_forwarded
from hob.guard.admission.settings import AdmissionSettings

_MAX_NAME = 100
_MAX_FILE_NAME = 150


def clean_contents(inbound: Inbound, settings: AdmissionSettings) -> Inbound:
    """Return the message made safe to show to models and people, with a note from Hob if something was changed."""
    inbound = _split_forwarded(inbound)
    text = neutralise(inbound.text)
    quoted = [(part, neutralise(part.text)) for part in inbound.quoted]
    files, left_out = _files(inbound.attachments, settings)
    name = one_line(inbound.sender.name, _MAX_NAME)
    notes = [each.note for each in (text, *(cleaned for _, cleaned in quoted)) if each.note]
    if notes:
        left_out = [f"taken out of the text: {', '.join(notes)}", *left_out]
    if not left_out and name == inbound.sender.name and files == inbound.attachments and text.text == inbound.text:
        return inbound
    note = (Quoted(f"[Hob: {'; '.join(left_out)}]", HOB_LABEL),) if left_out else ()
    return replace(
        inbound,
        text=text.text,
        sender=replace(inbound.sender, name=name),
        attachments=files,
        quoted=(*(replace(part, text=cleaned.text) for part, cleaned in quoted), *note),
    )


def _split_forwarded(inbound: Inbound) -> Inbound:
    """Move forwarded text out of the message into a quote of an unknown sender, so that it does not count as the
    sender's.
    """
    own, others = split_forwarded(inbound.text)
    if not others:
        return inbound
    quote = Quoted(others, Label(Origin.STRANGER, Trust.UNTRUSTED))
    return replace(inbound, text=own.rstrip(), quoted=(quote, *inbound.quoted))


def one_line(text: str, maximum: int) -> str:
    """Return a name on one line, without deceptive characters, at most `maximum` characters long."""
    if text.isprintable() and len(text) <= maximum:
        return text
    cleaned = " ".join(neutralise(text).text.split())
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in cleaned)[:maximum]


def _files(files: tuple[Attachment, ...], settings: AdmissionSettings) -> tuple[tuple[Attachment, ...], list[str]]:
    if not files:
        return files, []
    kinds = tuple(settings.attachment_types)
    kept: list[Attachment] = []
    left_out: list[str] = []
    for file in files:
        named = replace(file, name=one_line(file.name, _MAX_FILE_NAME))
        reason = ""
        if len(kept) >= settings.attachments:
            reason = f"more than {settings.attachments} files"
        elif file.size > settings.attachment_bytes:
            reason = f"larger than {settings.attachment_bytes:,} bytes"
        elif not matches_media_type(file.media_type, kinds):
            reason = "its kind is not taken"
        if reason:
            # name and type are the sender's words but this note is Hob's, so they are left out
            left_out.append(f"a file left out ({reason})")
        else:
            kept.append(named if named.name != file.name else file)
    return tuple(kept), left_out
