/** Configuration files and environment variables of the agent, and `agent validate`. */
import { describe, expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

type Files = Readonly<Record<string, string>>;

const start = (words: string, files: Files = {}, env: Readonly<Record<string, string>> = {}) =>
  run(['agent', ...words.split(' ')], { files, env });
const validate = (words: string, files: Files) =>
  run(['agent', 'validate', ...words.split(' ')], { files });

const hcl = `
data_dir = "/data"
http {
  address = "10.0.0.1:4000"
}
node {
  name = "two"
  meta {
    rack = "r1"
  }
  host_volume "data" { path = "/srv" }
  artifacts { files = 9 }
}
drivers { allow = ["exec"] }
`;

describe('a file in HCL', () => {
  test('means the same as a file in JSON', async () => {
    const inJson = JSON.stringify({
      data_dir: '/data',
      http: { address: '10.0.0.1:4000' },
      node: {
        name: 'two',
        meta: { rack: 'r1' },
        host_volume: { data: { path: '/srv' } },
        artifacts: { files: 9 },
      },
      drivers: { allow: ['exec'] },
    });
    const [one, other] = await Promise.all([
      start('-config a.hcl', { 'a.hcl': hcl }),
      start('-config a.json', { 'a.json': inJson }),
    ]);
    expect(one.stderr).toBe('');
    expect(one.agent).toEqual(other.agent);
    expect(one.agent).toMatchObject({
      http: { host: '10.0.0.1', port: 4000 },
      node: { name: 'two', meta: { rack: 'r1' }, hostVolumes: { data: { Path: '/srv' } } },
      artifacts: { filesMax: 9 },
      drivers: { allow: ['exec'] },
    });
  });

  test('tells all faults with line and column', async () => {
    const text = `dev = true
htp = "a"
region = "a b"
node {
  datacentre = "dc1"
  meta = { rack = 1 }
  pool = var.pool
}
node {
  name = "a"
}
node {
  name = "b"
  meta { rack = "r2" }
}
acl = true
log_level "x" {}
`;
    const { exitCode, stderr, agent } = await start('-config a.hcl', { 'a.hcl': text });
    expect({ exitCode, agent }).toEqual({ exitCode: 1, agent: undefined });
    const lines = stderr.split('\n').filter((line) => line.startsWith('  - '));
    expect(lines).toEqual([
      '  - a.hcl:2:1: htp is not a setting; did you mean http?',
      '  - a.hcl:5:3: node.datacentre is not a setting; did you mean node.datacenter?',
      expect.stringContaining('  - a.hcl:7:10: Only fixed values may stand here'),
      '  - a.hcl:13:3: node.name is given twice',
      '  - a.hcl:14:3: node.meta.rack is given twice',
      '  - a.hcl:16:1: acl must be a block',
      expect.stringContaining('  - a.hcl:3:1: region must be a name of letters'),
      expect.stringContaining('  - a.hcl:17:1: log_level must be trace or debug'),
    ]);
  });

  test('tells the faults of its syntax', async () => {
    const { stderr } = await start('-config a.hcl', {
      'a.hcl': 'dev = true\nnode {\n  name = \n}\n',
    });
    expect(stderr).toMatch(/ {2}- a\.hcl:3:\d+: Expected /);
  });
});

describe('several files', () => {
  const files: Files = {
    'base.json': '{"dev":true,"region":"eu","log_level":"debug","servers":["http://a:1"]}',
    'conf/20-b.json': '{"node":{"meta":{"rack":"r2","b":"2"}},"drivers":{"allow":["java"]}}',
    'conf/10-a.hcl': 'node { meta = { rack = "r1", a = "1" } }\ndrivers { allow = ["exec"] }\n',
    'conf/.#x.hcl': 'nonsense',
    'conf/note.txt': 'nonsense',
    'conf/below/z.hcl': 'nonsense',
    'site.hcl': 'region = "us"\nservers = ["http://b:1", "http://a:1"]\n',
  };

  test('are merged in order, a directory in the order of its names', async () => {
    const { agent, stderr } = await start('-config base.json -config conf -config site.hcl', files);
    expect(stderr).toBe('');
    expect(agent).toMatchObject({
      region: 'us',
      logLevel: 'debug',
      servers: { addresses: ['http://a:1', 'http://b:1'] },
      node: { meta: { rack: 'r2', a: '1', b: '2' } },
      drivers: { allow: ['java'] },
    });
    const again = await start('-config site.hcl -config base.json', files);
    expect(again.agent).toMatchObject({ region: 'eu' });
  });

  test('a later file can switch off what an earlier file has switched on', async () => {
    const two = {
      'a.hcl': 'dev = true\nacl { enabled = true }\n',
      'b.hcl': 'acl { enabled = false }\n',
    };
    expect((await start('-config a.hcl -config b.hcl', two)).agent?.aclEnabled).toBe(false);
    expect((await start('-config b.hcl -config a.hcl', two)).agent?.aclEnabled).toBe(true);
  });

  test('all their faults are told, also of values that are replaced', async () => {
    const faulty = { 'a.hcl': 'dev = true\nregion = "a b"\n', 'b.json': '{"region":"eu","x":1}' };
    const { stderr } = await start('-config a.hcl -config b.json -config none.hcl', faulty);
    expect(stderr).toContain('- a.hcl:2:1: region must be a name');
    expect(stderr).toContain('- b.json: x is not a setting');
    expect(stderr).toContain('- none.hcl cannot be read: ENOENT');
  });

  test('a job file is relative to the file that names it', async () => {
    const jobs = {
      '/etc/a/a.hcl': 'dev = true\nrun = ["../jobs/web.json"]\n',
      '/etc/b/b.hcl': 'run = ["jobs/api.json"]\n',
      '/etc/jobs/web.json': '{"ID":"web"}',
      '/etc/b/jobs/api.json': '{"ID":"api"}',
    };
    const { agent } = await start('-config /etc/a -config /etc/b/b.hcl', jobs);
    expect(agent?.run.map(({ path }) => path)).toEqual([
      '/etc/jobs/web.json',
      '/etc/b/jobs/api.json',
    ]);
  });
});

describe('environment variables', () => {
  test('come after flags and before files', async () => {
    const files = {
      'a.hcl': 'dev = true\nregion = "eu"\nnode { name = "file" }\nlog_level = "warn"\n',
    };
    const env = {
      ROSTER_AGENT_CONFIG: 'a.hcl',
      ROSTER_AGENT_NODE_NAME: 'variable',
      ROSTER_AGENT_LOG_LEVEL: 'debug',
      ROSTER_AGENT_ALLOW_DRIVERS: 'exec,java',
      ROSTER_AGENT_HOST_VOLUME: 'a=/a,b=/b:ro',
      ROSTER_AGENT_SERVER_ONLY: '1',
      ROSTER_AGENT_DATA_DIR: '',
    };
    const { agent, stderr } = await start('-log-level error', files, env);
    expect(stderr).toBe('');
    expect(agent).toMatchObject({
      region: 'eu',
      mode: 'server',
      dataDirectory: undefined,
      logLevel: 'error',
      node: {
        name: 'variable',
        hostVolumes: { a: { Path: '/a', ReadOnly: false }, b: { Path: '/b', ReadOnly: true } },
      },
      drivers: { allow: ['exec', 'java'] },
    });
  });

  test('can switch off what a file switches on', async () => {
    const files = { 'a.hcl': 'dev = true\nserver_only = true\n' };
    const env = { ROSTER_AGENT_SERVER_ONLY: 'false' };
    expect((await start('-config a.hcl', files, env)).agent?.mode).toBe('both');
  });

  test('are refused if they are unknown or faulty', async () => {
    const env = {
      ROSTER_AGENT_DATADIR: '/data',
      ROSTER_AGENT_DEV: 'yes',
      ROSTER_AGENT_LOG_LEVEL: 'loud',
    };
    const { stderr, agent } = await start('-data-dir /d', {}, env);
    expect(agent).toBeUndefined();
    expect(stderr).toContain(
      '- ROSTER_AGENT_DATADIR is not a variable of the agent; did you mean ROSTER_AGENT_DATA_DIR?',
    );
    expect(stderr).toContain('- ROSTER_AGENT_DEV must be true or false, got "yes"');
    expect(stderr).toContain('- ROSTER_AGENT_LOG_LEVEL must be trace or debug');
  });
});

describe('agent validate', () => {
  test('accepts what an agent starts with, without flags for the data directory', async () => {
    const files = { 'c/a.hcl': 'region = "eu"\n', 'b.json': '{"node":{"name":"a"}}' };
    const { exitCode, stdout, stderr } = await validate('c b.json', files);
    expect([exitCode, stdout, stderr]).toEqual([0, 'The configuration is valid.\n', '']);
    const json = await validate('c b.json -json', files);
    expect([json.exitCode, JSON.parse(json.stdout)]).toEqual([0, { Faults: [] }]);
  });

  const faulty = {
    'a.hcl': 'regon = "eu"\ntls { cert_file = "c.pem" }\nrun = ["no.json"]\n',
    'b.json': '{\n  "node": { "nme": 1 } }',
    'c.hcl': 'a = [',
  };

  test('tells every fault of every file', async () => {
    const { exitCode, stdout, stderr } = await validate('a.hcl b.json c.hcl', faulty);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr.split('\n')).toEqual([
      'The configuration has 5 faults:',
      '  - a.hcl:1:1: regon is not a setting; did you mean region?',
      '  - b.json: node.nme is not a setting; did you mean node.name?',
      expect.stringContaining('  - c.hcl:1:'),
      '  - a.hcl:2:7: tls.cert_file is of no use without tls.key_file',
      '  - --run: "no.json" cannot be read: there is no such file',
      '',
    ]);
  });

  test('tells them as JSON, each with its place', async () => {
    const { exitCode, stdout, stderr } = await validate('a.hcl b.json -json', faulty);
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout)).toEqual({
      Faults: [
        {
          File: 'a.hcl',
          Line: 1,
          Column: 1,
          Setting: 'regon',
          Message: 'a.hcl:1:1: regon is not a setting; did you mean region?',
        },
        {
          File: 'b.json',
          Line: 2,
          Column: 13,
          Setting: 'node.nme',
          Message: 'b.json: node.nme is not a setting; did you mean node.name?',
        },
        { Message: 'a.hcl:2:7: tls.cert_file is of no use without tls.key_file' },
        { Message: '--run: "no.json" cannot be read: there is no such file' },
      ],
    });
  });

  test('never prints a secret', async () => {
    const files = { 'a.hcl': 'root_token = "s3cret"\nkeyring { root_key = "s3cret" }\n' };
    const { exitCode, stdout, stderr } = await validate('a.hcl', files);
    expect([exitCode, `${stdout}${stderr}`]).toEqual([1, expect.not.stringContaining('s3cret')]);
  });

  test('needs a path', async () => {
    const { exitCode, stderr } = await run(['agent', 'validate']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Missing required argument')]);
  });
});

test('a value of an option is no command: --config reload', async () => {
  const { agent } = await start('--config reload', { reload: 'dev = true\nregion = "eu"\n' });
  expect(agent?.region).toBe('eu');
});
