"""Commands that set Hob up: onboard, config, models, secrets, tokens, webhooks, import, upgrade."""
