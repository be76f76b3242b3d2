# Two tasks with a directory of the machine: one writes to it, the other only reads.
# The agent has to offer it: roster agent --host-volume data=/srv/data
job "volumes" {
  type = "batch"

  group "notes" {
    volume "notes" {
      type   = "host"
      source = "data"
    }

    task "write" {
      driver = "exec"
      user   = "nobody" # who may write to /srv/data

      lifecycle {
        hook = "prestart"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"noted by $(id -un)\" > /notes/note"]
      }

      volume_mount {
        volume      = "notes"
        destination = "/notes"
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }

    task "read" {
      driver = "exec"

      config {
        command = "/bin/cat"
        args    = ["/notes/note"]
      }

      volume_mount {
        volume      = "notes"
        destination = "/notes"
        read_only   = true
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
