variable "image" {
  type        = string
  default     = "docker.io/library/busybox:1.36"
  description = "An image with a shell."
}

# A task in a container of Docker or Podman: its own files, no network, and no way to change itself.
job "container" {
  group "beats" {
    update {
      min_healthy_time = "1s"
    }

    task "beat" {
      driver = "docker"

      # The first process of a container ignores the signal to stop unless it has a trap.
      config {
        image           = var.image
        command         = "sh"
        args            = ["-c", "trap exit TERM; echo $GREETING > /scratch/a; cat /scratch/a; sleep 100000 & wait"]
        network_mode    = "none"
        readonly_rootfs = true
        cap_drop        = ["all"]
        pids_limit      = 20

        mount {
          type   = "tmpfs"
          target = "/scratch"
        }
      }

      env {
        GREETING = "hello from a container on ${node.unique.name}"
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
