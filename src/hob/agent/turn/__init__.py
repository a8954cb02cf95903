"""One turn: the fold, its driver, model calls and tool calls."""
