"""What messages hold besides plain words: documents, pictures, long texts in chunks."""
