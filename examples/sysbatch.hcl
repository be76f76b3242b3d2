# Work that is done once on every node.
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
