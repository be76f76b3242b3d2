# A job to be dispatched: each dispatch brings a payload and says whose it is.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "convert" {
  type = "batch"

  parameterized {
    payload       = "required"
    meta_required = ["customer"]
    meta_optional = ["format"]
  }

  meta {
    format = "text"
  }

  group "convert" {
    task "convert" {
      driver = "raw_exec"

      # The payload of the dispatch is a file in the directory of the task.
      dispatch_payload {
        file = "input.txt"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "echo for $ROSTER_META_customer as $ROSTER_META_format: $(wc -c < local/input.txt) bytes"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
