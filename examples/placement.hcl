# Where it runs: what is required, what is liked, and over what it is spread.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "placement" {
  type = "service"

  # Both of them, or it does not run there.
  constraint {
    attribute = "${attr.kernel.name}"
    value     = "linux"
  }

  constraint {
    attribute = "${attr.cpu.arch}"
    operator  = "regexp"
    value     = "amd64|arm64|x64"
  }

  # Rather on nodes of this class.
  affinity {
    attribute = "${node.class}"
    value     = "large"
    weight    = 70
  }

  # Half of it in each rack, where there are racks.
  spread {
    attribute = "${meta.rack}"
    weight    = 100

    target "r1" {
      percent = 50
    }

    target "r2" {
      percent = 50
    }
  }

  group "placement" {
    count = 2

    # Rather not on nodes that are known to be slow.
    affinity {
      attribute = "${meta.disk}"
      value     = "slow"
      weight    = -50
    }

    task "run" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo runs on $NODE; exec sleep 1000000"]
      }

      env {
        NODE = "${node.unique.name}"
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
