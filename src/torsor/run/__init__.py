"""From a prepared system to raw results: the time loops, events, and what drives them."""
