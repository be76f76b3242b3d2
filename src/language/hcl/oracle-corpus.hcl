Texts for oracle.test.ts. Each begins behind a line such as the next one, which names it and says
what both readers make of it, and ends where the next such line begins.
#=== accepted: a service job
job "web" {
  region      = "global"
  datacenters = ["dc1", "dc2"]
  type        = "service"
  priority    = 50

  update {
    max_parallel     = 2
    min_healthy_time = "10s"
    healthy_deadline = "3m"
    auto_revert      = true
    canary           = 1
  }

  group "web" {
    count = 3

    network {
      port "http" {}
      port "admin" { static = 9090 }
    }

    service {
      name = "web"
      port = "http"
      tags = ["urlprefix-/", "v${var.version}"]
      check {
        type     = "http"
        path     = "/health"
        interval = "10s"
        timeout  = "2s"
      }
    }

    task "server" {
      driver = "raw_exec"
      config {
        command = "/usr/bin/env"
        args    = ["node", "server.mjs", "--port", "${ROSTER_PORT_http}"]
      }
      env {
        GREETING = "Hello from ${ROSTER_ALLOC_NAME}"
      }
      resources {
        cpu    = 500
        memory = 256
      }
    }
  }
}
#=== accepted: a periodic batch job with a parameter
job "report" {
  type = "batch"
  periodic {
    crons            = ["*/15 * * * *", "@daily"]
    prohibit_overlap = true
    time_zone        = "Europe/Berlin"
  }
  parameterized {
    payload       = "required"
    meta_required = ["who"]
    meta_optional = []
  }
  group "g" {
    task "t" {
      driver = "exec"
      dispatch_payload { file = "input.json" }
      config { command = "./report" }
    }
  }
}
#=== accepted: variables and locals
variable "image" {
  type        = string
  default     = "registry.example/app"
  description = "What is run."
  validation {
    condition     = length(var.image) > 0 && can(regex("^[a-z./-]+$", var.image))
    error_message = "Not an image: ${var.image}."
  }
}
variable "zones" {
  type    = list(object({ name = string, weight = number }))
  default = [{ name = "a", weight = 1 }, { name = "b", weight = 2.5 }]
}
locals {
  names   = [for zone in var.zones : zone.name if zone.weight >= 1]
  weights = { for zone in var.zones : zone.name => zone.weight... }
  total   = sum(var.zones[*].weight...)
}
#=== accepted: constraints, affinities and spreads
constraint {
  attribute = "${attr.kernel.name}"
  operator  = "regexp"
  value     = "^(linux|darwin)$"
}
affinity {
  attribute = "${node.datacenter}"
  value     = "dc1"
  weight    = -50
}
spread {
  attribute = "$${meta.rack}"
  target "r1" { percent = 70 }
  target "r2" { percent = 30 }
}
#=== accepted: dynamic blocks
group "g" {
  dynamic "task" {
    for_each = toset(var.names)
    iterator = each
    labels   = [each.key]
    content {
      driver = "exec"
      config { command = each.value.command }
    }
  }
}
#=== accepted: templates that a task renders
template {
  data = <<EOF
upstream app {
{{ range service "web" }}
  server {{ .Address }}:{{ .Port }};
{{ end }}
}
EOF
  destination   = "local/upstream.conf"
  change_mode   = "signal"
  change_signal = "SIGHUP"
}
#=== accepted: a heredoc whose indentation is cut off
script = <<-EOT
    #!/bin/sh
    set -eu
      if [ -f x ]; then
    	echo "a tab after four spaces"
      fi

    exit 0
  EOT
#=== accepted: a heredoc with tabs and spaces in its indentation
a = <<-E
		two tabs
	  a tab and two spaces
	E
#=== accepted: a heredoc with blank lines of several widths
a = <<-E

    one
  
      two
 
   E
#=== accepted: a heredoc that begins with a sequence
a = <<-E
    ${first}
      second
    %{ if third }
    third
    %{ endif }
  E
#=== accepted: a heredoc whose markers trim
a = <<E
  ${~ a ~}   
   b
%{~ for x in y ~}
  ${x}
%{~ endfor ~}
c
E
#=== accepted: heredocs within brackets
a = [<<E
one
E
  , <<-F
  two
  F
]
b = {
  c = <<E
three
E
  d = f(<<E
four
E
  )
}
#=== accepted: a heredoc in a heredoc
a = <<OUTER
before
${upper(<<INNER
in ${"side"}
INNER
)}
after
OUTER
#=== accepted: words that look like the closing one
a = <<EOF
EOF x
xEOF
EOFEOF
 "EOF"
  EOF	
#=== accepted: escapes in a heredoc are text
a = <<E
\n \t \" \\ \u00e9 "quoted" 'quoted' $ % $$ %% $x %x {x} $ {x}
$${a} %%{b} $$${c} %%%{d}
E
#=== accepted: escapes in a string
a = "\n\r\t\"\\ \u00e9 \u2028 \U0001F600 \u0000"
b = "$${a} %%{b} $$$${c} $%{if d}e%{endif} %${f} 5% $x {y} ~}"
c = "\u0024{d} \u0025{e}"
#=== accepted: directives in a string
a = "%{ if x }1%{ else }2%{ endif }"
b = "%{if x}%{if y}1%{endif}%{else}%{for z in w}${z}%{endfor}%{endif}"
c = "%{ for k, v in m }${k}=${v},%{ endfor }"
d = " %{ if x ~} 1 %{~ else ~} 2 %{~ endif } "
e = "%{ if x }%{ endif }%{ for x in y }%{ endfor }"
f = "%{ if "%{ if x }y%{ endif }" == "y" }z%{ endif }"
#=== accepted: interpolations of everything
a = "${1}${"x"}${true}${[1, 2]}${{a = 1}}"
b = "${a.b[0].c}${a["b"]}${a.*.b}${a[*].b}${f(x...)}"
c = "${a ? "b" : "c"}"
d = "x${a ? "b" : c}${-1}${!true}${(2)}${"${"${deep}"}"}"
e = "${ {"}" = "}"}["}"] }"
f = "${[for x in y : "${x}}"]}"
#=== refused: a call that is expanded itself
a = "${f(x)...}"
#=== accepted: interpolations over several lines
a = "${
  b
}${ # comment
  c // another
  /* a third */ }"
#=== accepted: a value alone in a string is itself
a = "${"b"}"
b = "${["b"]}"
c = "${1.50}"
#=== accepted: numbers
a = 0
b = 00012
c = 1.50
d = 1e3
e = 1E-3
f = 2.5e+10
g = 9007199254740991
h = 0.1
i = 1.e5
j = -1
k = - 1
l = "n${1e21}${1e-7}${0.10}"
m = { 1e21 = 1, 2.50 = 2 }
#=== accepted: operators and what binds tighter
a = 1 + 2 * 3 - 4 / 5 % 6
b = !a && b || c == d && e != f
c = a < b == c >= d
d = -a.b + -f(x)[0]
e = (a ? b : c) ? d ? e : f : g ? h : i
f = a ? b : c
g = ((((a))))
h = 1-1
i = a-b - c
j = !!a != --b
#=== accepted: conditions over several lines within brackets
a = (
  b
  ? c
  : d
)
b = [
  a ?
  b :
  c
]
#=== accepted: operators at the ends of lines within brackets
a = (1 +
  2
  * 3)
b = f(
  a
  ,
  b,
)
#=== accepted: lists
a = []
b = [1, "two", true, null, [3], {four = 4}]
c = [
  1,
  2,
]
d = [1
  , 2
]
e = [ # none
]
#=== accepted: objects
a = {}
b = {a = 1, "b" = 2, (c) = 3, "d${e}" = 4, 5 = 6, true = 7, null = 8}
c = {
  a = 1
  b : 2,
  c = 3, d = 4

  if = 5
}
d = { a = { b = { c = [{ d = 1 }] } } }
e = { a.b = 1, f(x) = 2, -1 = 3, [1] = 4, a[0] = 5 }
f = { a = 1, a = 2 }
#=== accepted: objects over several lines
a = {

  "b" = [
    1,
  ] # one
  c = (
    2
  ) // two
  d = 3 /* three */
}
#=== accepted: for expressions
a = [for x in y : x]
b = [for i, x in y : "${i}=${x}" if x != null]
c = {for k, v in m : k => v}
d = {for v in m : v.key => v.value... if v.value > 0}
e = [for x in [for y in z : y] : {for k, v in x : k => [for w in v : w]}]
f = [
  for x
  in y
  : x
]
g = {
  for k, v in m :
  k => v
}
#=== accepted: words that are keywords elsewhere
if    = for
in    = [for if in in : if if if]
else  = { if = 1, in = 2, "for" = 3, (for) = 4 }
endif = endfor
for {
  true {}
  null = null
}
#=== accepted: traversals
a = b.c.d
b = b[0]["c"][d]
c = b.0.c.1
d = b [ 0 ] . c
e = (b
  .c
)
f = "x".y
g = [1, 2][0]
h = {a = 1}.a
i = f(x).y[0]
j = b[
  0
]
#=== accepted: splats
a = b.*
b = b[*]
c = b.*.c.0.d
d = b[*].c[0].d[*].e
e = b.*.c[0]
f = f(x)[*]
g = [1][*][0]
#=== accepted: calls
a = f()
b = f(1, "two", [3])
c = f(x...)
d = f(x, y...)
e = f(
  x,
  y...
)
f = f(g(h()))
g = core::upper("a")
h = a :: b :: c (1)
#=== accepted: comments of three kinds
# hash
// slashes
/* stars */
/* several
   lines */
a = 1 # behind
b = 2 // behind
c = /* within */ 3 /* behind */
d /* before */ = 4
/* before */ e = 5
f { # behind a brace
} /* behind */
g = [ # in brackets
  1, // one
  /* two */ 2 /* , 3 */
]
/**/
/***/
/* /* */
#=== accepted: comments that are none
a = "# // /* */"
b = <<E
# // /*
E
c = "${ /* */ d }"
#=== accepted: blocks and labels
a {}
a { }
a {
}
b "c" {}
b "c" "d e" {}
b c d {}
b "c" d "e" { f = 1 }
b"c"{}
c "" {}
c "$" {}
c "\"\n\u00e9" {}
#=== accepted: a block on one line
a { b = 1 }
a { b = [
  1
] }
a { b = {
  c = 1
} }
a { b = "c" /* d */ }
#=== accepted: blocks within blocks
a {
  b {
    c "d" {
      e = 1
    }
    c "d" {
      e = 2
    }
  }
  f = 1

  g {}
}
#=== accepted: names with dashes and underscores
a-b    = a-b
_c     = _
d-     = d--e
e1     = e-1
f-1-g_ = -h
#=== accepted: names outside of ASCII
größe  = "weiß"
日本   = größe.日本
αβγ-δ  = { ж = 1 }
a·b    = 1
été "été" { naïve = "${été}" }
#=== accepted: characters outside of ASCII in texts
a = "é 日本 😀 👩‍👩‍👧"
b = <<-日
  ☃
  日
c "☃" {}
#=== accepted: a policy
namespace "default" {
  policy       = "read"
  capabilities = ["submit-job", "read-logs"]
}
node { policy = "write" }
key_prefix "app/" { policy = "write" }
service "web" {
  policy     = "write"
  intentions = "read"
}
#=== accepted: an agent's configuration
data_dir = "/var/lib/roster"
server {
  enabled          = true
  bootstrap_expect = 3
}
client {
  enabled = true
  meta = {
    "rack" = "r1"
    zone   = "a"
  }
}
telemetry { publish = false }
#=== refused: a value is missing
a =
#=== refused: a value on the next line
a =
1
#=== refused: two operators
a = = 3
#=== refused: two values on one line
a = 1 b = 2
#=== refused: a name alone
a
#=== refused: a name in quotes
"a" = 1
#=== refused: a name with a point
a.b = 1
#=== refused: a name that begins with a digit
1a = 1
#=== refused: a name set twice
a = 1
b = 2
a = 3
#=== refused: a brace on the next line
a
{
}
#=== refused: a block that is not closed
a {
  b = 1
#=== refused: a brace too many
a {
}
}
#=== refused: two arguments in a block on one line
a { b = 1, c = 2 }
#=== refused: a block in a block on one line
a { b {} }
#=== refused: something behind a block
a {} b = 1
#=== refused: a label with a sequence
a "${b}" {}
#=== refused: a label that is a number
a 1 {}
#=== refused: list without commas
a = [1 2]
#=== refused: list that is not closed
a = [1,
#=== refused: brackets that do not match
a = [1)
#=== refused: an object without a value
a = {b}
#=== refused: an object with entries on one line
a = {b = 1 c = 2}
#=== refused: an object whose key is for
a = {for = 1}
#=== refused: a condition over several lines
a = b
  ? c
  : d
#=== refused: an operator on the next line
a = 1
  + 2
#=== refused: a key in a list
a = [for x in y : k => x]
#=== refused: no key in an object
a = {for x in y : x}
#=== refused: grouping in a list
a = [for x in y : x...]
#=== refused: three names in a for
a = [for x, y, z in w : x]
#=== refused: an expansion before the last argument
a = f(x..., y)
#=== refused: a comma for no argument
a = f(1,,2)
#=== refused: a method
a = b.c()
#=== refused: a splat in a splat
a = b.*.c.*
#=== refused: two indexes that read as a number
a = b.0.1
#=== refused: a number with two points
a = 1.2.3
#=== refused: a hexadecimal number
a = 0x10
#=== refused: a number with a separator
a = 1_000
#=== refused: a string over two lines
a = "b
c"
#=== refused: a string that is not closed
a = "b
#=== refused: single quotes
a = 'b'
#=== refused: an unknown escape
a = "\x41"
#=== refused: half a character
a = "\ud83d\ude00"
#=== refused: an interpolation of nothing
a = "${}"
#=== refused: an interpolation of two values
a = "${b c}"
#=== refused: an if that is not closed
a = "%{ if b }c"
#=== refused: an else too many
a = "%{ if b }c%{ else }d%{ else }e%{ endif }"
#=== refused: directives that are not nested
a = "%{ if b }%{ for c in d }%{ endif }%{ endfor }"
#=== refused: an unknown directive
a = "%{ while b }%{ endwhile }"
#=== refused: a heredoc that is not closed
a = <<E
b
#=== refused: a heredoc whose word is quoted
a = <<"E"
b
E
#=== refused: text behind the word of a heredoc
a = <<E b
c
E
#=== refused: a comment that is not closed
a = 1 /* b
#=== refused: a comment as a value
a = # b
#=== refused: semicolons
a = 1; b = 2
#=== refused: an operator that is none
a = b & c
#=== refused: a variable with a dollar
a = $b
