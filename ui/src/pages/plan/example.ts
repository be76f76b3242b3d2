/** The job that a new plan begins with. */
export const exampleJobFile = `# Two instances of a program, with a port and a health check.
job "hello" {
  type        = "service"
  datacenters = ["*"]

  group "web" {
    count = 2

    network {
      port "http" {}
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "python3"
        args    = ["-m", "http.server", "\${ROSTER_PORT_http}"]
      }

      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
`;
