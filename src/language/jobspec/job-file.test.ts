import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { HclError } from '../hcl/errors.ts';
import { standardFunctions } from '../hcl/functions/standard.ts';
import { type JobFileOptions, readJob } from './job-file.ts';
import { placeOf } from './places.ts';

const { clock, ids } = new SimulatedWorld(1);
const functions = standardFunctions({ clock, ids });

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
const jobOf = (text: string, options: Partial<JobFileOptions> = {}) =>
  plain(readJob(text, { functions, ...options }).job);
const inJob = (text: string) => `job "web" {\n${text}\n}\n`;
const inTask = (text: string) => inJob(`group "g" {\ntask "t" {\n${text}\n}\n}`);

function faultsOf(text: string, options: Partial<JobFileOptions> = {}): readonly string[] {
  try {
    readJob(text, { functions, ...options });
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    return error.faults.map(
      ({ fileName = '', line, column, sentence }) => `${fileName}${line}:${column} ${sentence}`,
    );
  }
  return [];
}

const said: readonly (readonly [title: string, text: string, job: object])[] = [
  ['the label is the id', '', {}],
  ['an id of its own', 'id = "a"\nname = "b"', { ID: 'a', Name: 'b' }],
  ['null counts as absent', 'type = null', {}],
  ['numbers from texts', 'priority = "70"', { Priority: 70 }],
  ['flags from texts', 'all_at_once = "true"', { AllAtOnce: true }],
  ['texts from numbers', 'name = 7', { Name: '7' }],
  [
    'meta as a block',
    'meta {\n a = "b"\n n = 1\n f = true\n}',
    { Meta: { a: 'b', n: '1', f: 'true' } },
  ],
  ['meta as an attribute', 'meta = { "a-b.c" = "d", e = null }', { Meta: { 'a-b.c': 'd' } }],
  ['sets as lists', 'datacenters = toset(["b", "a"])', { Datacenters: ['a', 'b'] }],
  ['durations', 'update {\n stagger = "1h30m"\n}', { Update: { Stagger: 5_400_000_000_000 } }],
  ['durations in nanoseconds', 'update {\n stagger = 5\n}', { Update: { Stagger: 5 } }],
  [
    'a constraint without an operator',
    'constraint {\n attribute = "${attr.kernel.name}"\n value = "linux"\n}',
    { Constraints: [{ LTarget: '${attr.kernel.name}', RTarget: 'linux', Operand: '=' }] },
  ],
  ...(
    ['version', 'semver', 'regexp', 'set_contains', 'set_contains_all', 'set_contains_any'] as const
  ).map(
    (operator) =>
      [
        `${operator} as an attribute`,
        `constraint {\n attribute = "a"\n ${operator} = "b"\n}`,
        { Constraints: [{ LTarget: 'a', RTarget: 'b', Operand: operator }] },
      ] as const,
  ),
  [
    'distinct_hosts',
    'constraint {\n distinct_hosts = true\n}\nconstraint {\n distinct_hosts = false\n}',
    {
      Constraints: [
        { Operand: 'distinct_hosts', RTarget: 'true' },
        { Operand: 'distinct_hosts', RTarget: 'false' },
      ],
    },
  ],
  [
    'distinct_hosts as an operator',
    'constraint {\n operator = "distinct_hosts"\n value = "true"\n}',
    { Constraints: [{ Operand: 'distinct_hosts', RTarget: 'true' }] },
  ],
  [
    'distinct_property',
    'constraint {\n distinct_property = "${meta.rack}"\n value = "3"\n}',
    { Constraints: [{ Operand: 'distinct_property', LTarget: '${meta.rack}', RTarget: '3' }] },
  ],
  [
    'an affinity',
    'affinity {\n attribute = "a"\n regexp = "b"\n weight = -5\n}',
    { Affinities: [{ LTarget: 'a', RTarget: 'b', Operand: 'regexp', Weight: -5 }] },
  ],
  [
    'a spread',
    'spread {\n attribute = "a"\n target "x" {\n percent = 60\n }\n target {\n value = "y"\n }\n}',
    { Spreads: [{ Attribute: 'a', SpreadTarget: [{ Value: 'x', Percent: 60 }, { Value: 'y' }] }] },
  ],
  [
    'a schedule',
    'periodic {\n cron = "@daily"\n}',
    { Periodic: { SpecType: 'cron', Spec: '@daily' } },
  ],
  [
    'ports',
    'group "g" {\n network {\n port "a" {}\n port "b" {\n static = 80\n to = 8080\n }\n }\n}',
    {
      TaskGroups: [
        {
          Name: 'g',
          Networks: [
            {
              ReservedPorts: [{ Label: 'b', Value: 80, To: 8080 }],
              DynamicPorts: [{ Label: 'a' }],
            },
          ],
        },
      ],
    },
  ],
  [
    'volumes by their names',
    'group "g" {\n volume "v" {\n type = "host"\n source = "s"\n }\n}',
    { TaskGroups: [{ Name: 'g', Volumes: { v: { Name: 'v', Type: 'host', Source: 's' } } }] },
  ],
  [
    'a task in the job is a group of its own',
    'task "t" {\n driver = "mock"\n}',
    { TaskGroups: [{ Name: 't', Tasks: [{ Name: 't', Driver: 'mock' }] }] },
  ],
  [
    'tasks inherit the secrets of the job and of their group',
    'secrets {\n role = "a"\n}\ngroup "g" {\n task "t" {}\n task "u" {\n secrets {\n role = "c"\n }\n }\n}\ngroup "h" {\n secrets {\n role = "b"\n }\n task "t" {}\n}',
    {
      TaskGroups: [
        {
          Name: 'g',
          Tasks: [
            { Name: 't', Secrets: { Role: 'a' } },
            { Name: 'u', Secrets: { Role: 'c' } },
          ],
        },
        { Name: 'h', Tasks: [{ Name: 't', Secrets: { Role: 'b' } }] },
      ],
    },
  ],
];

test.each(said)('%s', (_, text, job) => {
  expect(jobOf(inJob(text))).toEqual({ ID: 'web', ...job });
});

const saidOfTasks: readonly (readonly [title: string, text: string, task: object])[] = [
  [
    'a configuration of any shape',
    'config {\n a = [1, { b = null }]\n mount {\n type = "bind"\n }\n mount {\n type = "volume"\n }\n logging "x" {\n y = 1\n }\n}',
    {
      Config: {
        a: [1, { b: null }],
        mount: [{ type: 'bind' }, { type: 'volume' }],
        logging: [{ x: [{ y: 1 }] }],
      },
    },
  ],
  [
    'identities',
    'identity {\n env = true\n}\nidentity {\n name = "x"\n aud = ["y"]\n}',
    { Identity: { Env: true }, Identities: [{ Name: 'x', Audience: ['y'] }] },
  ],
  [
    'scaling of resources',
    'scaling "cpu" {\n max = 9\n policy {\n check "c" {\n strategy "s" {\n target = 1\n }\n }\n }\n}\nscaling "mem" {}',
    {
      ScalingPolicies: [
        {
          Type: 'vertical_cpu',
          Max: 9,
          Policy: { check: [{ c: [{ strategy: [{ s: [{ target: 1 }] }] }] }] },
        },
        { Type: 'vertical_mem' },
      ],
    },
  ],
  [
    'headers of a check',
    'service {\n port = 8080\n check {\n header {\n A = ["b", "c"]\n }\n }\n}',
    { Services: [{ PortLabel: '8080', Checks: [{ Header: { A: ['b', 'c'] } }] }] },
  ],
  [
    'references that only a node can resolve remain text',
    'env {\n A = "${ROSTER_PORT_http}:${ROSTER_IP_http}"\n B = "${attr.kernel.name}"\n C = "${node.datacenter}"\n D = "${env["HOME"]}"\n E = "${meta.x}"\n F = "${home}"\n G = attr.cpu.arch\n H = "$${x}"\n I = "${node.unique.id}"\n}',
    {
      Env: {
        A: '${ROSTER_PORT_http}:${ROSTER_IP_http}',
        B: '${attr.kernel.name}',
        C: '${node.datacenter}',
        D: '${env["HOME"]}',
        E: '${meta.x}',
        F: '${home}',
        G: '${attr.cpu.arch}',
        H: '${x}',
        I: '${node.unique.id}',
      },
    },
  ],
  ['functions', 'user = lower(join("", ["A", "B"]))', { User: 'ab' }],
  [
    'heredocs',
    'template {\n data = <<-EOT\n   a = {{ key "x" }}\n     b = ${upper("c")}\n   EOT\n destination = "local/x"\n}',
    { Templates: [{ EmbeddedTmpl: 'a = {{ key "x" }}\n  b = C\n', DestPath: 'local/x' }] },
  ],
];

test.each(saidOfTasks)('in a task: %s', (_, text, task) => {
  expect(jobOf(inTask(text)).TaskGroups[0].Tasks).toEqual([{ Name: 't', ...task }]);
});

const made: readonly (readonly [title: string, text: string, meta: object])[] = [
  [
    'locals in any order, and in several blocks',
    'locals {\n a = "${local.b}!"\n}\nlocals {\n b = local.c[0]\n c = ["x", local.d]\n d = 1\n}\njob "web" {\n meta {\n a = local.a\n }\n}\n',
    { a: 'x!' },
  ],
  [
    'variables',
    'variable "a" {\n default = 3\n}\nvariable "b" {\n type = list(string)\n default = [1]\n}\njob "web" {\n meta {\n a = var.a + 1\n b = var.b[0]\n }\n}\n',
    { a: '4', b: '1' },
  ],
  [
    'the names of a "for" are its own',
    'job "web" {\n meta {\n a = join(",", [for node in ["x", "y"] : "<${node}>"])\n }\n}\n',
    { a: '<x>,<y>' },
  ],
  [
    'dynamic attributes of a map are a "for"',
    'job "web" {\n meta = { for k in ["a", "b"] : k => upper(k) }\n}\n',
    { a: 'A', b: 'B' },
  ],
];

test.each(made)('%s', (_, text, meta) => {
  expect(jobOf(text).Meta).toEqual(meta);
});

test('dynamic blocks, also nested, in free bodies, and over every kind of collection', () => {
  const text = `job "web" {
    dynamic "group" {
      for_each = { b = 2, a = 1 }
      labels = ["g-\${group.key}"]
      content {
        count = group.value
        dynamic "task" {
          for_each = toset(["x"])
          iterator = each
          labels = [each.key]
          content {
            user = "\${each.value}-\${group.key}"
            config {
              dynamic "mount" {
                for_each = ["p", "q"]
                content {
                  at = "\${mount.key}:\${mount.value}:\${each.value}"
                }
              }
            }
          }
        }
      }
    }
    dynamic "constraint" {
      for_each = []
      content {
        nonsense = true
      }
    }
  }
  `;
  const group = (name: string, Count: number) => ({
    Name: `g-${name}`,
    Count,
    Tasks: [
      { Name: 'x', User: `x-${name}`, Config: { mount: [{ at: '0:p:x' }, { at: '1:q:x' }] } },
    ],
  });
  expect(jobOf(text)).toEqual({ ID: 'web', TaskGroups: [group('a', 1), group('b', 2)] });
});

test("HCL's JSON form describes the same job", () => {
  const json = {
    variable: { dcs: { type: 'list(string)', default: ['a'] } },
    locals: { x: '${var.dcs[0]}', y: '${local.x}!' },
    job: {
      web: {
        datacenters: '${var.dcs}',
        meta: { a: '${local.y} "q"\n${attr.cpu.arch}' },
        group: {
          g: {
            count: '${1 + 1}',
            network: { port: { http: {}, admin: { static: 80 } } },
            task: { t: { driver: 'mock', config: { run_for: '1s' } } },
          },
        },
      },
    },
  };
  expect(jobOf(JSON.stringify(json))).toEqual({
    ID: 'web',
    Datacenters: ['a'],
    Meta: { a: 'a! "q"\n${attr.cpu.arch}' },
    TaskGroups: [
      {
        Name: 'g',
        Count: 2,
        Networks: [
          { DynamicPorts: [{ Label: 'http' }], ReservedPorts: [{ Label: 'admin', Value: 80 }] },
        ],
        Tasks: [{ Name: 't', Driver: 'mock', Config: { run_for: '1s' } }],
      },
    ],
  });
});

const refused: readonly (readonly [title: string, text: string, faults: readonly string[]])[] = [
  ['no job', '', ['1:1 There is no job "name" { … } in this file']],
  ['two jobs', 'job "a" {}\njob "b" {}\n', ['2:1 A job file holds one job']],
  ['no label', 'job {}\n', ['1:1 "job" needs a label: job "name" { … }']],
  ['two labels', 'job "a" "b" {}\n', ['1:9 "job" takes one label']],
  ['no HCL', 'job "a" {\n  type = \n}\n', ['2:10 Expected a value, found the end of the line']],
  [
    'something else at the top',
    'jub "a" {}\njob "b" {}\n',
    ['1:1 A job file holds job, variable and locals blocks, not "jub"; did you mean "job"?'],
  ],
  [
    'unknown attributes and blocks, all of them',
    inJob('datacentres = []\ngruop "g" {}\nx = 1'),
    [
      '2:1 "job" has no attribute "datacentres"; did you mean "datacenters"?',
      '3:1 "job" has no block "gruop"; did you mean "group"?',
      '4:1 "job" has no attribute "x"',
    ],
  ],
  [
    'a block as an attribute',
    inJob('update = {}'),
    ['2:1 "update" is a block: write update { … }'],
  ],
  ['an attribute as a block', inJob('type {}'), ['2:1 "type" is not a block: write type = …']],
  ['a single block twice', inJob('update {}\nupdate {}'), ['3:1 "job" holds one "update" at most']],
  ['a label too many', inJob('update "x" {}'), ['2:8 "update" takes no label']],
  [
    'volumes of the same name',
    inJob('group "g" {\nvolume "v" {}\nvolume "v" {}\n}'),
    ['4:8 There is a volume "v" already'],
  ],
  [
    'no number',
    inJob('priority = "high"'),
    ['2:12 "priority" has to be a number, and is the string "high"'],
  ],
  ['no integer', inJob('priority = 1.5'), ['2:12 "priority" has to be an integer, and is 1.5']],
  [
    'no duration',
    inJob('update {\nstagger = "5"\n}'),
    ['3:11 "stagger" has to be a duration such as "30s" or "1h30m", and is "5"'],
  ],
  [
    'no list',
    inJob('datacenters = "dc1"'),
    ['2:15 "datacenters" has to be a list of strings, and is a string'],
  ],
  [
    'an item of a list',
    inJob('datacenters = ["a", []]'),
    ['2:15 "datacenters" has to be a string, and is a list, at [1]'],
  ],
  ['no map', inJob('meta = 3'), ['2:8 "meta" has to be an object, and is a number']],
  ['a block in a map', inJob('meta {\na {}\n}'), ['3:1 "meta" holds no blocks']],
  ['text without quotes', inTask('driver = docker'), ['4:10 There is no variable "docker"']],
  [
    'an undeclared variable',
    'variable "image" {\n default = ""\n}\njob "a" {\n name = var.imege\n}\n',
    ['5:13 There is no variable "imege"; did you mean "image"?'],
  ],
  [
    'a variable without its "var."',
    'variable "image" {\n default = ""\n}\njob "a" {\n name = "${image}"\n}\n',
    ['5:12 There is no variable "image"'],
  ],
  [
    'a misspelled root',
    inTask('user = "${vra.user}"'),
    ['4:11 There is no variable "vra"; did you mean "var"?'],
  ],
  [
    'a runtime name with a computed key',
    inTask('user = "${meta[var.x]}"'),
    ['4:16 "meta" is only known where the task runs; its key has to be fixed'],
  ],
  [
    'two operators',
    inJob('constraint {\nversion = "1"\nregexp = "a"\n}'),
    ['2:1 "version" and "regexp" are one operator each'],
  ],
  [
    'scaling of something else',
    inTask('scaling "disk" {}'),
    ['4:1 The label of a task\'s scaling is "cpu" or "mem"'],
  ],
  [
    'locals in a circle',
    'locals {\n a = local.b\n b = "${local.c}"\n c = [local.a]\n d = local.a\n}\njob "a" {}\n',
    ['2:2 These locals need each other: a → b → c → a'],
  ],
  [
    'an unknown local',
    'locals {\n abc = 1\n d = local.abd\n}\njob "a" {}\n',
    ['3:6 There is no local "abd"; did you mean "abc"?'],
  ],
  [
    'a local twice',
    'locals {\n a = 1\n}\nlocals {\n a = 2\n}\njob "a" {}\n',
    ['5:2 There is a local "a" already'],
  ],
  [
    'dynamic without its parts',
    inJob('dynamic "group" {}'),
    ['2:1 "dynamic" needs for_each', '2:1 "dynamic" needs content { … }'],
  ],
  [
    'dynamic of nothing',
    inJob('dynamic {}'),
    ['2:1 "dynamic" needs the type of its blocks: dynamic "port" { … }'],
  ],
  [
    'dynamic over a number',
    inJob('dynamic "group" {\nfor_each = 3\ncontent {}\n}'),
    ['3:12 "for_each" needs a list, a set or an object'],
  ],
  [
    'dynamic of an unknown block',
    inJob('dynamic "gruop" {\nfor_each = [1]\ncontent {}\n}'),
    ['2:9 "job" has no block "gruop"; did you mean "group"?'],
  ],
];

test.each(refused)('refused: %s', (_, text, faults) => {
  expect(faultsOf(text)).toEqual(faults);
});

test('functions of files are refused without files', () => {
  expect(faultsOf(inJob('name = file("/etc/passwd")'))).toEqual([
    expect.stringMatching(/^2:8 "file" reads files/),
  ]);
});

test('faults of the structure are reported together with faults of variables', () => {
  const text =
    'variable "a" {}\nvariable "b" {\n description = "What to run."\n}\njob "x" {\n tipe = var.a\n}\n';
  expect(faultsOf(text)).toEqual([
    '1:1 The variable "a" needs a value',
    '2:1 The variable "b" needs a value (What to run.)',
    '6:2 "job" has no attribute "tipe"; did you mean "type"?',
  ]);
});

test('places lead from the fields of the job to the text', () => {
  const text = inTask('resources {\n  memory = 1\n}\nidentity {\n  ttl = "1h"\n}');
  const places = readJob(text, { functions }).places();
  const at = (pointer: string) => {
    const place = placeOf(places, pointer);
    return place && [place.line, place.column];
  };
  expect(at('/TaskGroups/0/Tasks/0/Resources/MemoryMB')).toEqual([5, 3]);
  // An absent field has the place of its block.
  expect(at('/TaskGroups/0/Tasks/0/Resources/CPU')).toEqual([4, 1]);
  expect(at('/TaskGroups/0/Tasks/0/Driver')).toEqual([3, 1]);
  expect(at('/TaskGroups/0/Tasks/0/Identity/TTL')).toEqual([8, 3]);
  expect(at('/Nothing/here')).toEqual([1, 1]);
});

test('items of lists, maps and free blocks have their places', () => {
  const text = inTask(`driver = "x"
env {
  A = "1"
}
config {
  args = [
    "a", "b",
  ]
  mount {
    target = "/x"
  }
  labels = { "a/b" = "c" }
}
action "a" {
  args = ["c"]
}`);
  const places = readJob(text, { functions }).places();
  const at = (pointer: string) => {
    const place = placeOf(places, `/TaskGroups/0/Tasks/0/${pointer}`);
    return place && [place.line, place.column];
  };
  expect(at('Env/A')).toEqual([6, 3]);
  expect(at('Config/args')).toEqual([9, 3]);
  expect(at('Config/args/1')).toEqual([10, 10]);
  expect(at('Config/mount/0/target')).toEqual([13, 5]);
  expect(at('Config/labels/a~1b')).toEqual([15, 14]);
  expect(at('Actions/0/Args/0')).toEqual([18, 11]);
});
