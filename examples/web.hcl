# A service of three instances with a port each, replaced one at a time.
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).
job "web" {
  type        = "service"
  datacenters = ["*"]

  group "web" {
    count = 3

    network {
      port "http" {}
    }

    # A new version goes out instance by instance; if one does not become healthy, back it goes.
    update {
      max_parallel     = 1
      min_healthy_time = "1s"
      healthy_deadline = "1m"
      auto_revert      = true
    }

    restart {
      attempts = 3
      interval = "5m"
      delay    = "1s"
      mode     = "delay"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.roster.runtime}"
        args    = ["-e", <<-EOT
          const { GREETING, ROSTER_ALLOC_NAME: name, ROSTER_IP_http: address, ROSTER_PORT_http: port } = process.env;
          require('node:http')
            .createServer((request, response) => {
              console.log(new Date().toISOString(), request.method, request.url);
              response.end(GREETING + ' from ' + name + '\n');
            })
            .listen(Number(port), address, () => console.log(name + ' listens on ' + address + ':' + port));
          process.on('SIGINT', () => process.exit(0));
          EOT
        ]
      }

      env {
        GREETING = "Hello"
      }

      resources {
        cpu    = 50
        memory = 64
      }

      logs {
        max_files     = 3
        max_file_size = 5
      }
    }
  }
}
