"""What kind of recording some bytes are, by how they begin; what a sender calls them may be wrong."""

from collections.abc import Mapping

_BEGINNINGS = (
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"ID3", "mp3"),
    (b"\xff\xfb", "mp3"),
    (b"\xff\xf3", "mp3"),
    (b"\xff\xf2", "mp3"),
    (b"\x1aE\xdf\xa3", "webm"),
)
_TYPES: Mapping[str, str] = {
    "audio/flac": "flac",
    "audio/x-flac": "flac",
    "audio/m4a": "m4a",
    "audio/x-m4a": "m4a",
    "audio/mp4": "mp4",
    "video/mp4": "mp4",
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/opus": "ogg",
    "application/ogg": "ogg",
    "audio/vnd.wave": "wav",
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
    "audio/webm": "webm",
    "video/webm": "webm",
}


def recording_ending(data: bytes, media_type: str) -> str:
    """The ending of a file's name that goes with it, by which servers tell formats apart; empty if none does."""
    for beginning, ending in _BEGINNINGS:
        if data.startswith(beginning):
            return ending
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "wav"
    if data[4:8] == b"ftyp":
        return "m4a" if data[8:11] == b"M4A" else "mp4"
    return _TYPES.get(media_type.partition(";")[0].strip().lower(), "")
