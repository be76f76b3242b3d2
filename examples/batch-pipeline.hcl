# A pipeline that is dispatched: it fetches what it works on, prepares it, works, and reports.
#
#   roster job run examples/batch-pipeline.hcl
#   roster job dispatch -meta word=NAME batch-pipeline
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
variable "source" {
  description = "What is worked on: a URL of a file, an archive or a repository."
  default     = "file:///etc/os-release"
}

job "batch-pipeline" {
  type = "batch"

  parameterized {
    meta_optional = ["word"]
  }

  meta {
    word = "."
  }

  group "pipeline" {
    # However it fares, it has ended after ten minutes.
    max_run_duration = "10m"

    ephemeral_disk {
      size = 300
    }

    # Fetched before it starts, into the directory that the tasks share.
    task "prepare" {
      driver = "raw_exec"

      lifecycle {
        hook = "prestart"
      }

      artifact {
        source      = var.source
        destination = "alloc/data/input"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "cd $ROSTER_ALLOC_DIR/data && cat input/* | sort > sorted"]
      }

      # A source that cannot be reached is tried again.
      restart {
        attempts = 3
        interval = "5m"
        delay    = "5s"
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }

    task "work" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "cd $ROSTER_ALLOC_DIR/data && grep $ROSTER_META_word sorted > found; true"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }

    task "report" {
      driver = "raw_exec"

      lifecycle {
        hook = "poststop"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "cd $ROSTER_ALLOC_DIR/data && echo $(wc -l < found) of $(wc -l < sorted) lines"]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
