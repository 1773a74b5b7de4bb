"""Control messages: what they ask for, what they change in every bucket, and the replies."""
