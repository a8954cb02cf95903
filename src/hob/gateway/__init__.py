"""The HTTP API: routes, authentication, WebSocket, OpenAI-compatible API, webhooks, dashboard."""
