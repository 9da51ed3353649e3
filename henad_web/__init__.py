"""Parameter studies of agent-based models and cellular automata, the same on every target."""
