"""The API as OpenAI's clients speak it: their requests become Hob's messages, Hob's outcomes their answers.

Formats: https://platform.openai.com/docs/api-reference.
"""
