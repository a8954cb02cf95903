"""LangChain's agent with a tool of its own; prints the answer."""

import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from tests.journeys.api.clients.weather import get_weather

url, key, question = sys.argv[1:]
agent = create_agent(ChatOpenAI(model="hob", base_url=f"{url}/v1", api_key=key), [get_weather])
print(agent.invoke({"messages": [("user", question)]})["messages"][-1].text)
