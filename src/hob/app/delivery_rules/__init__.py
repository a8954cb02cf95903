"""What is sent to chats and what is not: silent mode, and the links of those who write in the browser."""
