# A task that sees the system read-only, its own directories and its own processes, and no more.
job "isolated" {
  group "work" {
    ephemeral_disk {
      size = 150
    }

    task "server" {
      driver = "exec"

      # Without this it would be nobody.
      user = "daemon"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo I am $(id -un), process $$ of $(ls -d /proc/[0-9]* | wc -l); exec sleep 1000000"]

        # Fewer than the node lets every task have.
        pids_limit = 50
        cap_drop   = ["all"]
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
