"""Tool calls as text, for models without native calls or with broken ones: mostly small local models."""
