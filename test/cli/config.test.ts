import { beforeEach, describe, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { type CliSetting, cliOf } from '../support/cli.ts';

let api: TestApi;
let cli: ReturnType<typeof cliOf>;
beforeEach(async () => {
  api = await startApi();
  cli = cliOf(api);
});

async function says(words: readonly string[], setting: CliSetting = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(words, setting);
  expect([exitCode, stderr], words.join(' ')).toEqual([0, '']);
  return stdout;
}
const write = (text: string, ...options: string[]) =>
  cli(['config', 'write', ...options, 'entry.hcl'], { files: { 'entry.hcl': text } });
const read = async (kind: string, name: string) =>
  JSON.parse(await says(['config', 'read', '-kind', kind, '-name', name, '-json']));

const defaults = `Kind     = "service-defaults"
Name     = "web"
Protocol = "http"

Meta = { owner = "shop" }

UpstreamConfig {
  Defaults {
    connect_timeout_ms = 2000
  }
  Overrides { Name = "db" }
  Overrides {
    Name = "cache"
    PassiveHealthCheck { Interval = "90s" }
  }
}
`;

describe('config write', () => {
  test('takes HCL with blocks, attributes and fields in any case', async () => {
    const { stdout } = await write(defaults);
    expect(stdout).toBe('The entry service-defaults/web is written.\n');
    const { UpstreamConfig, Meta } = await read('service-defaults', 'web');
    expect(Meta).toEqual({ owner: 'shop' });
    expect(UpstreamConfig).toMatchObject({
      Defaults: { ConnectTimeoutMs: 2000 },
      Overrides: [{ Name: 'db' }, { Name: 'cache', PassiveHealthCheck: { Interval: 90e9 } }],
    });
  });

  test.each([
    [
      'a list of objects',
      `Kind = "service-intentions"
Name = "web"
Sources = [
  { Name = "api", Action = "allow" },
  {
    Name   = "*"
    Action = "deny"
  },
]`,
    ],
    [
      'a block for each, in snake_case',
      `kind = "service-intentions"
name = "web"
sources {
  name   = "api"
  action = "allow"
}
sources {
  name   = "*"
  action = "deny"
}`,
    ],
  ])('takes %s', async (_, text) => {
    expect((await write(text)).stderr).toBe('');
    const { Sources } = await read('service-intentions', 'web');
    expect(Sources.map(({ Name, Action }: Record<string, string>) => [Name, Action])).toEqual([
      ['api', 'allow'],
      ['*', 'deny'],
    ]);
  });

  test('takes JSON, from a file and from standard input', async () => {
    const stdin = JSON.stringify({
      Kind: 'mesh',
      TransparentProxy: { MeshDestinationsOnly: true },
    });
    expect(await says(['config', 'write', '-'], { stdin })).toBe('The entry mesh is written.\n');
    expect(await read('mesh', 'mesh')).toMatchObject({ Name: 'mesh' });
    expect((await write(stdin)).exitCode).toBe(0);
  });

  test('is guarded by an index', async () => {
    const changed = defaults.replace('"http"', '"grpc"');
    expect((await write(defaults, '-cas', '-modify-index', '7')).stderr).toContain(
      'Nothing is changed',
    );
    expect((await write(defaults, '-cas')).exitCode).toBe(0);
    expect(await write(changed, '-cas')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there is such an entry already, at index'),
    });
    const { ModifyIndex: index } = await read('service-defaults', 'web');
    expect((await write(changed, '-cas', '-modify-index', '999')).stderr).toContain(
      `the entry is at index ${index}, and not at the one`,
    );
    const { ModifyIndex } = await read('service-defaults', 'web');
    expect((await write(changed, '-cas', '-modify-index', String(ModifyIndex))).exitCode).toBe(0);
    expect((await write(changed, '-modify-index', '7')).stderr).toContain('nothing without --cas');
    expect((await write(changed, '-cas', '-modify-index', 'x')).stderr).toContain(
      'must be an integer',
    );
  });

  test('-dry-run stores nothing', async () => {
    expect((await write(defaults, '-dry-run')).stdout).toContain('would be written');
    expect(await says(['config', 'list'])).toBe('There are no configuration entries.\n');
  });

  test.each([
    ['Name = "web"', 'Kind is required: one of api-gateway'],
    ['Kind = "services"', 'got "services"'],
    ['Kind = "mesh"\nColour = 1\nOther {}', 'Colour is not a known field'],
    ['Kind = "mesh"\nKind = "mesh"', 'entry.hcl":2:1'],
    ['Kind = "mesh"\nTLS {}\nTLS {}', '"TLS" is given twice'],
    ['Kind = "mesh"\nTLS "x" {}', '"TLS" takes no label'],
    [
      'Kind = "service-router"\nName = "web"\nRoutes = [\n  { match { http { path_prefix = "a" } } },\n]',
      'entry.hcl":4:20: Routes[0].Match.HTTP.PathPrefix',
    ],
    ['Kind = upper("mesh")', 'Only fixed values may stand here'],
    ['{', 'is not JSON'],
  ])('%j is refused', async (text, fault) => {
    const { exitCode, stderr } = await write(text);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(fault);
  });
});

describe('config read, list and delete', () => {
  test('config read prints a file for the same entry', async () => {
    await write(defaults);
    const stored = await read('service-defaults', 'web');
    const shown = await says(['config', 'read', '-kind', 'service-defaults', '-name', 'web']);
    expect(shown).toMatch(/^# ModifyIndex \d+\nKind = "service-defaults"\nName = "web"\n/);
    expect((await write(shown)).exitCode).toBe(0);
    expect(await read('service-defaults', 'web')).toEqual(stored);
  });

  test('lists are tables', async () => {
    await write(defaults);
    await write('Kind = "mesh"');
    expect(await says(['config', 'list'])).toMatch(
      /^Kind +Name +ModifyIndex +Meta\s*\nmesh +mesh +\d+ +-\s*\nservice-defaults +web +\d+ +owner=shop\s*\n$/,
    );
    expect(await says(['config', 'list', '-kind', 'mesh'])).not.toContain('web');
    const filter = ['-filter', 'Meta.owner == "shop"', '-json'];
    expect(JSON.parse(await says(['config', 'list', ...filter]))).toHaveLength(1);
    expect(await says(['config', 'list', '-namespace', '*'])).toContain('Namespace');
  });

  test('a delete is guarded as well', async () => {
    await write(defaults);
    const remove = (...options: string[]) =>
      cli(['config', 'delete', '-kind', 'service-defaults', '-name', 'web', ...options]);
    expect((await remove('-cas')).stderr).toContain('needs the --modify-index');
    expect((await remove('-cas', '-modify-index', '999')).exitCode).toBe(1);
    expect((await remove('-dry-run')).stdout).toContain('would be deleted');
    expect((await remove()).stdout).toBe('The entry service-defaults/web is deleted.\n');
    expect(await remove()).toMatchObject({
      exitCode: 0,
      stdout: 'There is no entry service-defaults/web.\n',
    });
    expect((await cli(['config', 'delete', '-kind', 'http-route'])).stderr).toContain(
      'The NAME of the entry is missing',
    );
  });

  test('kind and name may be arguments, or come from a file', async () => {
    await write(defaults);
    const words = ['service-defaults', 'web'];
    expect(await says(['config', 'read', ...words])).toContain('Protocol = "http"');
    expect((await cli(['config', 'read', ...words, '-name', 'web'])).stderr).toContain(
      '"web" is left, -name gives NAME',
    );
    expect((await cli(['config', 'read'])).stderr).toContain("Missing required argument 'KIND'");
    const files = { 'entry.hcl': defaults };
    const remove = ['config', 'delete', '-filename', 'entry.hcl'];
    expect((await cli(remove, { files })).stdout).toBe(
      'The entry service-defaults/web is deleted.\n',
    );
    expect((await cli(['config', 'delete', ...words])).stdout).toContain('There is no entry');
  });

  test('a kind with a single entry needs no name', async () => {
    for (const [kind, name] of [
      ['mesh', 'mesh'],
      ['proxy-defaults', 'global'],
      ['exported-services', 'default'],
    ] as const) {
      const remove = ['config', 'delete', '-kind', kind];
      const read = ['config', 'read', '-kind', kind];
      expect((await cli(read)).stderr).toContain(`${kind} "${name}"`);
      await write(`Kind = "${kind}"`);
      expect(await says(read)).toContain(`Name = "${name}"`);
      expect(await says([...read, '-name', name])).toContain(`Name = "${name}"`);
      expect(await says([...remove, '-dry-run'])).toContain(`${kind}/${name} would be deleted`);
      expect(await says(remove)).toBe(`The entry ${kind}/${name} is deleted.\n`);
      expect((await cli(read)).exitCode).toBe(1);
    }
    for (const kind of ['service-defaults', 'http-route', 'bound-api-gateway']) {
      expect((await cli(['config', 'read', '-kind', kind])).stderr).toContain(
        'The NAME of the entry is missing',
      );
    }
  });

  test('an entry with the name of its partition is found by the option, or by the token', async () => {
    await api.call('PUT', '/v1/partition/team', { body: {} });
    const body = { Kind: 'exported-services' };
    expect((await api.call('PUT', '/v1/config?partition=team', { body })).json).toBe(true);
    const read = ['config', 'read', '-kind', 'exported-services'];
    expect(await says([...read, '-partition', 'team'])).toContain('Name = "team"');
    const token = await aclOf(api).holder('mesh = "write"', '?partition=team');
    expect(await says(read, { token })).toContain('Name = "team"');
    const stdout = await says(['config', 'delete', '-kind', 'exported-services'], { token });
    expect(stdout).toBe('The entry exported-services/team is deleted.\n');
  });

  test('the kinds are completed', async () => {
    const { stdout } = await cli(['__complete', 'config', 'read', '-kind', 'service-d']);
    expect(stdout).toBe('service-defaults\n');
  });
});

describe('config chain', () => {
  beforeEach(async () => {
    const entries = [
      'Kind = "proxy-defaults"\nConfig { protocol = "http" }',
      `Kind = "service-router"
Name = "web"
Routes {
  Match {
    HTTP {
      PathPrefix = "/admin"
      Methods    = ["get"]
    }
  }
  Destination {
    Service = "admin"
  }
}`,
      `Kind = "service-splitter"
Name = "web"
Splits {
  Weight = 90
}
Splits {
  Weight  = 10
  Service = "next"
}`,
      `Kind           = "service-resolver"
Name           = "next"
ConnectTimeout = "3s"
Failover = {
  "*" = { Datacenters = ["dc2"] }
}`,
    ];
    for (const entry of entries) expect((await write(entry)).stderr).toBe('');
  });

  test('shows the paths of the traffic', async () => {
    expect(await says(['config', 'chain', 'web'])).toBe(`Service     web
Datacenter  dc1
Protocol    http
Entries     see below

Node                                What             Leads to
router:web.default.default          GET /admin…      resolver:admin.default.default.dc1
                                    /…               splitter:web.default.default
resolver:admin.default.default.dc1  5s to connect    admin.default.default.dc1
splitter:web.default.default        90 %             resolver:web.default.default.dc1
                                    10 %             resolver:next.default.default.dc1
resolver:web.default.default.dc1    5s to connect    web.default.default.dc1
resolver:next.default.default.dc1   3s to connect    next.default.default.dc1
                                    if none is well  next.default.default.dc2
`);
  });

  test('-explain shows the reasons, with the entries', async () => {
    const told = await says(['config', 'chain', 'next', '-explain']);
    expect(told).toMatch(
      /1 +proxy-defaults\/global +"next" speaks http, and so must every service/,
    );
    expect(told).toMatch(
      /2 +service-resolver\/next +Instances of "next" in dc1 are taken, with 3s/,
    );
  });

  test('options override the entries', async () => {
    const options = ['-protocol', 'tcp', '-connect-timeout', '9s', '-mesh-gateway', 'local'];
    const datacenter = ['-datacenter', 'dc9', '-partition', 'default'];
    const { Chain } = JSON.parse(
      await says(['config', 'chain', 'next', ...options, ...datacenter, '-json']),
    );
    expect(Chain).toMatchObject({ Protocol: 'tcp', Datacenter: 'dc9' });
    expect(Chain.Targets['next.default.default.dc9']).toMatchObject({
      ConnectTimeout: '9s',
      MeshGateway: { Mode: 'local' },
    });
    const wrong = await cli(['config', 'chain', 'next', '-connect-timeout', 'soon']);
    expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining('"soon"')]);
  });

  test('says if no entry is involved', async () => {
    expect(await says(['config', 'chain', 'other'])).toContain('none that route, split or resolve');
  });
});

describe('intention', () => {
  beforeEach(async () => {
    // Requests can be told apart only where they are HTTP.
    await write('Kind = "service-defaults"\nName = "web"\nProtocol = "http"');
    await write(`Kind = "service-intentions"
Name = "web"
Sources = [
  { Name = "api", Action = "allow", Description = "the front" },
  { Name = "*", Permissions = [{ Action = "allow", HTTP = { PathPrefix = "/open" } }] },
]`);
  });

  test.each([
    [
      ['api', 'web'],
      0,
      /^Allowed\nThe intention from "api" to "web" of precedence 9 allows it\.\n$/,
    ],
    [['job', 'web'], 2, /^Denied\n.* decides request by request/],
    [['job', 'web', '-path', '/open/x'], 0, /^Allowed\n.* by its permission 1 of 1\.\n$/],
    [['job', 'web', '-path', '/x'], 2, /no permission that fits the request; the default policy/],
    [['api', 'db'], 2, /^Denied\nNo intention fits; the default policy/],
  ])('check %j: %i', async (words, code, output) => {
    const { exitCode, stdout } = await cli(['intention', 'check', ...words]);
    expect([exitCode, stdout]).toEqual([code, expect.stringMatching(output)]);
  });

  test('match shows the intentions of a service', async () => {
    expect(await says(['intention', 'match', 'web'])).toMatch(
      /^Precedence .*\n9 +api +web +allow +the front\s*\n8 +\* +web +1 permission /,
    );
    expect(await says(['intention', 'match', '-source', 'api'])).toMatch(
      /\n9 +api +web .*\n8 +\* +web/,
    );
    expect(await says(['intention', 'match', 'db'])).toBe('No intentions are of db.\n');
  });
});
