# Files and variables that are rendered for a task, and a signal when what they read changes.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "templates" {
  group "work" {
    # Stands in for whatever changes what a template reads: a service, a variable, a file.
    task "chooser" {
      driver = "raw_exec"

      lifecycle {
        hook    = "prestart"
        sidecar = true
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "echo blue > $ROSTER_ALLOC_DIR/data/colour; sleep 2; echo green > $ROSTER_ALLOC_DIR/data/colour; exec sleep 1000000"]
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }

    task "painter" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "trap 'cat local/paint.conf' HUP; echo $GREETING; cat local/paint.conf; while true; do sleep 0.2; done"]
      }

      # It is sent SIGHUP when the colour is another one.
      template {
        destination   = "local/paint.conf"
        change_mode   = "signal"
        change_signal = "SIGHUP"
        splay         = "0s"

        wait {
          min = "0s"
          max = "1s"
        }

        data = <<-EOT
          {{- $colours := parseJSON `{"blue": "#0000ff", "green": "#00ff00"}` -}}
          {{- $colour := file "/alloc/data/colour" | trimSpace -}}
          colour = {{ $colour }}
          code   = {{ index $colours $colour }}
        EOT
      }

      # These are variables of the task, and take precedence over all others.
      template {
        destination = "secrets/painter.env"
        env         = true

        data = <<-EOT
          GREETING="Painting for {{ env "ROSTER_JOB_ID" | toUpper }}"
        EOT
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }
  }
}
