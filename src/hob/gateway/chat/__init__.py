"""A message on its way in over the API, and its outcome."""
