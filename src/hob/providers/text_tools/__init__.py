"""Tool calls as text, for models without native ones or with broken ones: mostly small local models."""
