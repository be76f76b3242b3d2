# A web service that others find by its name. A check says whether it is well: a new version goes out
# instance by instance once its check passes, and goes back when it does not.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
variable "version" {
  default = "1"
}

variable "health" {
  description = "What the check is answered: 200 is well."
  default     = "200"
}

job "shop" {
  group "shop" {
    count          = 2
    shutdown_delay = "200ms"

    network {
      port "http" {}
    }

    update {
      max_parallel      = 1
      health_check      = "checks"
      min_healthy_time  = "1s"
      healthy_deadline  = "5s"
      progress_deadline = "0s"
      auto_revert       = true
    }

    service {
      name = "shop"
      port = "http"
      tags = ["v${var.version}"]

      check {
        name     = "alive"
        type     = "http"
        path     = "/health"
        interval = "1s"
        timeout  = "1s"

        check_restart {
          limit = 5
          grace = "10s"
        }
      }
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.roster.runtime}"
        args    = ["-e", <<-EOT
          const { VERSION, HEALTH, ROSTER_IP_http: address, ROSTER_PORT_http: port } = process.env;
          require('node:http')
            .createServer((request, response) => {
              response.writeHead(request.url === '/health' ? Number(HEALTH) : 200);
              response.end('shop ' + VERSION + '\n');
            })
            .listen(Number(port), address);
          process.on('SIGINT', () => process.exit(0));
          EOT
        ]
      }

      env {
        VERSION = var.version
        HEALTH  = var.health
      }

      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
