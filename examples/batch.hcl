# Work that is done once: four shares of it, each tried again when it fails.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "batch" {
  type = "batch"

  group "shares" {
    count = 4

    restart {
      attempts = 2
      interval = "10m"
      delay    = "2s"
    }

    # When a node cannot do it, another one tries.
    reschedule {
      attempts       = 2
      interval       = "1h"
      delay          = "5s"
      delay_function = "constant"
    }

    task "share" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo share $ROSTER_ALLOC_INDEX of $SHARES is done"]
      }

      env {
        SHARES = 4
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
