"""From events to models: who is held out, what is counted, where models are kept."""
