"""What the model may do: files, shell and more, each tool made from a typed function and kept within its bounds."""
