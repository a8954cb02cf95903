"""The wire of OpenAI Responses."""
