"""Media models: embeddings, transcription, speech, image description and generation."""
