"""Players: rules of thumb, networks, exact and searching play."""
