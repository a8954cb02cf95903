"""What kind of image some bytes are, by how they begin; what a sender calls them may be wrong."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_BRANDS = {  # of ISO base media files, https://www.iana.org/assignments/media-types/image/heic
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
    b"avif": "image/avif",
}


def image_type(data: bytes) -> str:
    """The media type; empty if it is no image that any model takes."""
    for beginning, media_type in _BEGINNINGS:
        if data.startswith(beginning):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12], "")
    return ""
