"""LangChain's structured output; prints the parsed answer."""

import sys

from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class City(BaseModel):
    """A city, and whether it rains there."""

    name: str
    rain: bool


url, key, question = sys.argv[1:]
model = ChatOpenAI(model="hob", base_url=f"{url}/v1", api_key=key, max_retries=10)
print(model.with_structured_output(City, method="json_schema").invoke(question))
