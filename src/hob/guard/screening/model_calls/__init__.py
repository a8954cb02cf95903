"""What models are told and what they answer, looked over: the prompt guard and the sanitizer."""
