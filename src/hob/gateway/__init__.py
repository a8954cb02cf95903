"""The HTTP API: routes, authentication, WebSocket, OpenAI's API, webhooks, the dashboard."""
