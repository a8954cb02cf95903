"""Message content other than plain text: documents, images, media, long texts in chunks."""
