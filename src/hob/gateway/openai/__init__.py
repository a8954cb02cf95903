"""The OpenAI-compatible API: requests become Hob's messages, outcomes become OpenAI's answers.

Formats: https://platform.openai.com/docs/api-reference.
"""
