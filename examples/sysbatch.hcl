# Work that is done once on every node.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "inventory" {
  type = "sysbatch"

  constraint {
    attribute = "${attr.kernel.name}"
    value     = "linux"
  }

  group "inventory" {
    task "list" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo $NODE; uname -a; df -P /"]
      }

      env {
        NODE = "${node.unique.name}"
      }

      resources {
        cpu    = 10
        memory = 16
      }
    }
  }
}
