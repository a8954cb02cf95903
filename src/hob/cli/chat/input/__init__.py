"""What a person types: keys, completion, history, drafts."""
