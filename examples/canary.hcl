# A new version runs beside the old one first. "roster job promote canary" lets it take over;
# "roster deployment fail ID" sends it back.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "canary" {
  type = "service"

  group "web" {
    count          = 2
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    service {
      name        = "canary-web"
      provider    = "scheduler"
      port        = "http"
      tags        = ["live"]
      canary_tags = ["canary"]
    }

    update {
      max_parallel     = 1
      canary           = 1
      min_healthy_time = "1s"
      healthy_deadline = "1m"
      auto_revert      = true
      auto_promote     = false
      health_check     = "task_states"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo version $VERSION on port $ROSTER_PORT_http; exec sleep 1000000"]
      }

      env {
        VERSION = "1"
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
