# A server with a node on the same machine. docs/reference/agent-configuration.md has every setting.
data_dir  = "/var/lib/roster"
log_level = "info"

http {
  address       = "127.0.0.1:4720"
  allowed_hosts = ["roster.example.com"]
}

node {
  datacenter = "dc1"
  class      = "large"

  meta {
    rack = "r1"
  }

  # The machine itself needs these.
  reserved {
    memory         = 512
    reserved_ports = "22"
  }

  host_volume "data" {
    path      = "/srv/data"
    read_only = true
  }
}

drivers {
  allow = ["exec", "docker"]
}

audit {
  file   = "/var/log/roster/audit.log"
  events = "writes"
}

snapshots {
  directory = "/var/backups/roster"
  interval  = "1h"
  keep      = 48
}
