"""The work repository and the identity files, as the owner sees and changes them."""
