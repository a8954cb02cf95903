"""The earlier name of `hob.testing.model_server`, and `python -m hob.testing.openai_server`."""

from hob.testing.model_server import Asked as Asked
from hob.testing.model_server import ModelServer as OpenAIServer
from hob.testing.model_server.program import main
from hob.testing.model_server.program import serve as serve

__all__ = ["Asked", "OpenAIServer", "main", "serve"]

if __name__ == "__main__":
    main()
