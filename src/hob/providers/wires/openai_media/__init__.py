"""Media endpoints of OpenAI's API and compatible servers: embeddings, transcription, speech, images, reranking."""
