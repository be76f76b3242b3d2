# Launched by the clock: on working days at a quarter past six and in the evening.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "report" {
  type = "batch"

  periodic {
    crons            = ["15 6 * * 1-5", "0 20 * * 1-5"]
    time_zone        = "Europe/Berlin"
    prohibit_overlap = true
  }

  group "report" {
    task "write" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo the report of $(date)"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
