# Runs once on every node, on those that join later as well: what collects, watches or cleans up.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "uptime" {
  type     = "system"
  priority = 80

  group "uptime" {
    task "report" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "while true; do cat /proc/loadavg; sleep 10; done"]
      }

      # ${node.…} and ${attr.…} are only known on the node, and filled in there.
      env {
        NODE   = "${node.unique.name}"
        KERNEL = "${attr.kernel.name}"
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }
  }
}
