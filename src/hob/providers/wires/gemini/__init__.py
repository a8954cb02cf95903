"""The wire of Gemini's generateContent."""
