"""Tools of the model: files, shell and more, each made from a typed function and kept within its bounds."""
