"""What turns changed in files, and how it is put back."""
