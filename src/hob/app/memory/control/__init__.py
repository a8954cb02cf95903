"""The API of the owner's memory, behind the routes, `hob memory` and the slash commands."""
