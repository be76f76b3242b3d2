# The agent of this machine. /usr/share/doc/roster/docs/reference/agent-configuration.md has every setting.
data_dir = "/var/lib/roster"

# Tasks go on while the agent restarts.
tasks_on_exit = "keep"

http {
  # For other machines: an address that they reach, in a network that you trust or with the block "tls".
  address = "127.0.0.1:4720"
}
