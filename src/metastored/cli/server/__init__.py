"""Commands to run a server: `serve`, `doctor`, `user`."""
