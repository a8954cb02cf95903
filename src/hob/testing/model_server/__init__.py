"""A fake model server on loopback that speaks all wires: fast, scriptable, with every failure on demand.

In a test: `async with ModelServer() as server`, then point a client at `server.url` (OpenAI's, with `/v1`) or
`server.root` (all others). As a program: `python -m hob.testing.model_server --port 0` prints its base URL.

It serves OpenAI chat completions and Responses, Anthropic Messages, Gemini generateContent and Ollama's own chat, with
their side endpoints, and refuses what the real servers refuse. Without a script, the last user message decides by its
first paragraph (the first one after the last note that something was not answered or was stopped, if there is one):

* `CALL name {json}` (one or more lines) makes these tool calls; after their results it answers `The tool said: …`;
* `FAULT name` fails in the way of this `Fault`; `FAULT name 2` does so for the first two requests with that text, then
  it answers `ok`;
* if the system text names sections in lines that begin with `## `, each of them gets a line, as a summary needs;
* a model test (`hob models test`) passes: the tool it asks for is called;
* anything else is answered with `You said: …`.

Other processes can set the script with `POST /_fake/script` (a JSON list of replies) and read the requests with
`GET /_fake/requests`.
"""

from hob.testing.model_server.hypertext import Action as Action
from hob.testing.model_server.hypertext import End as End
from hob.testing.model_server.hypertext import HttpRequest as HttpRequest
from hob.testing.model_server.replies import ODDITIES as ODDITIES
from hob.testing.model_server.replies import Fault as Fault
from hob.testing.model_server.replies import Reply as Reply
from hob.testing.model_server.replies import parse_reply as parse_reply
from hob.testing.model_server.server import ModelServer as ModelServer
