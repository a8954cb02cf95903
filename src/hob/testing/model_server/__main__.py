"""`python -m hob.testing.model_server`."""

from hob.testing.model_server.program import main

if __name__ == "__main__":
    main()
