"""Where results go: folders of ours, replaced whole or not at all."""
