"""Tool calls written as text, for models that have no native ones, or none that work: small local models mostly."""
