"""The services that run turns and serve the API."""
