"""Tables for agents that speak the Model Context Protocol: games in play, and the questions of an audit."""
