# A task with commands that may be run in it while it runs: "roster job actions action" lists them.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "action" {
  group "notes" {
    ephemeral_disk {
      size = 150
    }

    task "keeper" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo started > local/notes; exec sleep 86400"]
      }

      # roster job action -job action notes
      action "notes" {
        command = "cat"
        args    = ["local/notes"]
      }

      # What is typed becomes a note: roster job action -job action add
      action "add" {
        command = "/bin/sh"
        args    = ["-c", "cat >> local/notes"]
      }

      # With a terminal of the client's size: roster job action -job action shell
      action "shell" {
        command = "/bin/sh"
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }
  }
}
