# Tasks beside the main one: before it, as long as it runs, and after it.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "lifecycle" {
  type = "batch"

  group "work" {
    ephemeral_disk {
      size = 150
    }

    # Ends before the main task starts; what it leaves in the shared directory is there then.
    task "prepare" {
      driver = "raw_exec"

      lifecycle {
        hook = "prestart"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "echo prepared > $ROSTER_ALLOC_DIR/data/state"]
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }

    # Starts before the main task and goes on beside it.
    task "watch" {
      driver = "raw_exec"

      lifecycle {
        hook    = "prestart"
        sidecar = true
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "while true; do sleep 1; done"]
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }

    task "main" {
      driver = "raw_exec"
      leader = true

      config {
        command = "/bin/sh"
        args    = ["-c", "cat $ROSTER_ALLOC_DIR/data/state; echo worked"]
      }

      kill_timeout = "10s"

      resources {
        cpu    = 20
        memory = 16
      }
    }

    task "clean-up" {
      driver = "raw_exec"

      lifecycle {
        hook = "poststop"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "rm $ROSTER_ALLOC_DIR/data/state; echo cleaned up"]
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }
  }
}
