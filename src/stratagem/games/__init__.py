"""Rules: games, their states and views, the choices of a seat, and keyed chance."""
