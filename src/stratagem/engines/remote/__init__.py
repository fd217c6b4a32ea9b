"""How a server is spoken to: what is sent, what is read, when it is tried again, and what it costs."""
