"""A fake model server on loopback that speaks all wires: fast, scriptable, and with every failure on demand.

In a test: `async with ModelServer() as server`, then point a client at `server.url` (OpenAI's, with `/v1`) or
`server.root` (all others). As a program: `python -m hob.testing.model_server --port 0` prints its base URL.

It serves OpenAI chat completions and Responses, Anthropic Messages, Gemini generateContent and Ollama's own chat, with
what belongs to them, and refuses what the real servers refuse. Without a script it behaves by what the last user
message says in its first paragraph (the first one behind the last note that something was not answered or was
stopped, where there is such a note):

* `CALL name {json}` (one or more lines) asks for these tool calls; with their results it says `The tool said: …`;
* `FAULT name` fails as `Fault` names it; `FAULT name 2` does so for the first two requests of that text, then it says
  `ok`;
* if the system text names sections by lines that begin with `## `, each of them gets a line: a summary is a summary;
* a trial (`hob models test`) is passed: the tool it asks for is called;
* anything else is answered by `You said: …`.

Other processes can reach the script by `POST /_fake/script` (a JSON list of replies) and what was asked by
`GET /_fake/requests`.
"""

from hob.testing.model_server.hypertext import Action as Action
from hob.testing.model_server.hypertext import End as End
from hob.testing.model_server.hypertext import HttpRequest as HttpRequest
from hob.testing.model_server.replies import ODDITIES as ODDITIES
from hob.testing.model_server.replies import Fault as Fault
from hob.testing.model_server.replies import Reply as Reply
from hob.testing.model_server.replies import reply_of as reply_of
from hob.testing.model_server.server import ModelServer as ModelServer
