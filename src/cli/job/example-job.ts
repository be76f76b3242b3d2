/** The file that `job init` writes. It runs unchanged on any node with the `raw_exec` driver. */
export const exampleJob = `# A job file. "roster job run FILE" runs it, "roster job validate FILE" checks it, and
# "roster fmt FILE" brings it into shape. docs/reference/job-file.md has everything that may stand
# here.

# What may differ from run to run: "roster job run -var greeting=Moin FILE".
variable "greeting" {
  type        = string
  default     = "Hello"
  description = "What the server says."
}

# The label is the id of the job.
job "example" {
  # service: it is kept running. batch: it runs until it is done. system: once on every node.
  type        = "service"
  datacenters = ["*"]

  # Groups are placed as a whole: the tasks of an allocation are on one node.
  group "web" {
    count = 2

    # A port that is free on the node; tasks see it as ROSTER_PORT_http.
    network {
      port "http" {}
    }

    # How a new version takes the place of the old one.
    update {
      max_parallel     = 1
      min_healthy_time = "2s"
      healthy_deadline = "1m"
      auto_revert      = true
    }

    # What happens when a task fails: first another try on the same node, then another node.
    restart {
      attempts = 3
      interval = "5m"
      delay    = "2s"
      mode     = "fail"
    }

    task "server" {
      # It isolates nothing: it runs with --dev, or where the node allows it. "exec" isolates.
      driver = "raw_exec"

      # For the driver. Only the node knows \${attr.…}, \${node.…}, \${meta.…} and \${ROSTER_…}.
      config {
        command = "\${attr.roster.runtime}"
        args    = ["-e", <<-EOF
          const { GREETING, ROSTER_IP_http: address, ROSTER_PORT_http: port } = process.env;
          require('node:http')
            .createServer((request, response) => response.end(GREETING + '\\n'))
            .listen(Number(port), address);
          EOF
        ]
      }

      env {
        GREETING = var.greeting
      }

      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
`;
