"""The wire of Gemini's generateContent: `thinking`, `sealing`, `encoding`, `decoding`, `wire`."""
