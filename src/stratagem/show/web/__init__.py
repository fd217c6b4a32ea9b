"""Web floor: what the viewer and the endpoint share, from the checks of a request to the start of the server."""
