"""What goes to a model and what comes back, looked over: detectors, prompt guard, sanitizer, classifier. No I/O."""
