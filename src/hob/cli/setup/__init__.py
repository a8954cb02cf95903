"""Commands that set Hob up.

onboard, config, models, secrets, token, auth, mcp, tools, plugins, webhooks, import, upgrade, completion.
"""
