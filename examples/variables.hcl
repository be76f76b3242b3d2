# What differs from run to run is a variable, what is said twice is a local, and what comes in rows
# is made by "dynamic".
#
#   roster job run -var greeting=Moin examples/variables.hcl
#   roster job run -var 'sites=["north", "south"]' examples/variables.hcl
#   ROSTER_VAR_greeting=Servus roster job run examples/variables.hcl
# raw_exec isolates nothing: it runs with --dev, or where the node allows it (--allow-drivers).

variable "greeting" {
  type        = string
  default     = "Hello"
  description = "What the tasks say."

  validation {
    condition     = length(var.greeting) <= 40
    error_message = "A greeting is short."
  }
}

variable "sites" {
  type        = list(string)
  default     = ["east", "west"]
  description = "Each site is a group."
}

variable "ports" {
  type    = map(number)
  default = { http = 0, admin = 0 }
}

locals {
  shell = "/bin/sh"
  say   = "echo ${var.greeting} from"

  # In any order: this one needs the one above.
  loop = "${local.say} $SITE; exec sleep 1000000"
}

job "variables" {
  type = "service"

  meta = {
    sites = join(",", var.sites)
    count = length(var.sites)
  }

  dynamic "group" {
    for_each = var.sites
    labels   = ["site-${group.value}"]

    content {
      network {
        dynamic "port" {
          for_each = var.ports
          labels   = [port.key]

          content {
            static = port.value
          }
        }
      }

      task "say" {
        driver = "raw_exec"

        config {
          command = local.shell
          args    = ["-c", local.loop]
        }

        env {
          SITE   = upper(group.value)
          NUMBER = group.key + 1
        }

        resources {
          cpu    = 20
          memory = 16
        }
      }
    }
  }
}
