import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { aliases } from '../aliases.ts';
import { commands } from '../commands.generated.ts';
import { allocation, deployment, ids, job, jobStub, node } from '../fixtures.test-helper.ts';
import { groups } from '../groups.ts';
import { run } from '../harness.test-helper.ts';
import { shellScripts } from './scripts.ts';

const server = {
  'GET /v1/jobs': { json: [jobStub(), jobStub({ ID: 'worker' })] },
  'GET /v1/job/web/versions': {
    json: {
      Versions: [
        job({ Version: 2, Stable: true, VersionTag: null }),
        job({ Version: 1, Stable: false, VersionTag: { Name: 'golden' } }),
      ],
    },
  },
  'GET /v1/allocations': { json: [allocation()] },
  'GET /v1/nodes': { json: [node()] },
  'GET /v1/deployments': { json: [deployment()] },
  'GET /v1/services': {
    json: [{ Namespace: 'default', Services: [{ ServiceName: 'shop', Tags: [] }] }],
  },
  'GET /v1/servers': { json: [{ ID: 's-1', Address: '10.0.0.1:4720', Leader: true }] },
  'GET /v1/peerings': {
    json: [
      { Name: 'east', State: 'ACTIVE' },
      { Name: 'west', State: 'FAILING' },
    ],
  },
};

test.each([[['']], [[]]])('%j begins with every group, command and help', async (words) => {
  const outer = Object.keys(groups).filter((name) => !name.includes(' '));
  const alone = commands.filter((one) => one.words.length === 1).map((one) => one.words[0]);
  const short = Object.keys(aliases).filter((name) => !name.includes(' '));
  expect(short).toContain('logs');
  expect(await complete(...words)).toEqual([...outer, ...alone, ...short, 'help']);
  expect(outer).toEqual(expect.arrayContaining(['job', 'acl', 'namespace']));
});

/** The candidates for the last word, without their descriptions. */
async function complete(...words: string[]): Promise<string[]> {
  const { stdout, exitCode } = await run(['__complete', ...words], { server });
  expect(exitCode).toBe(0);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0]!);
}

test.each<[string[], string[]]>([
  [['al'], ['alloc', 'alloc-status']],
  [['a'], ['alloc', 'acl', 'agent', 'attention', 'agent-info', 'alloc-status']],
  [
    ['acl', 'token', ''],
    ['clone', 'create', 'delete', 'list', 'read', 'update'],
  ],
  [
    ['job', 'sc'],
    ['scale', 'scaling-events'],
  ],
  [
    ['job', 'status', 'w'],
    ['web', 'worker'],
  ],
  [['job', 'status', 'web', ''], []],
  [
    ['job', 'revert', 'web', ''],
    ['2', '1', 'golden'],
  ],
  [['job', 'revert', 'web', 'g'], ['golden']],
  [['--address', 'http://127.0.0.1:1', 'job', 'status', 'w'], []],
  [['alloc', 'logs', '-f', 'a0'], [ids.first]],
  [['node', 'status', ''], [ids.node]],
  [
    ['deployment', 'p'],
    ['pause', 'promote'],
  ],
  [['deployment', 'promote', 'd1'], [ids.deployment]],
  [
    ['peering', 'read', ''],
    ['east', 'west'],
  ],
  [['monitor', '-server-id', ''], ['s-1']],
  [['peering', 'read', '-name', 'w'], ['west']],
  [['peering', 'why', ''], ['shop']],
  [['peering', 'why', 'shop', 'e'], ['east']],
  [['service', 'info', '--peer', 'w'], ['west']],
  [['job', 'run', ''], [':file']],
  [['job', 'run', '--d'], ['--detach']],
  [['job', 'run', '-d'], ['-detach']],
  [
    ['agent', '--log-level', ''],
    ['trace', 'debug', 'info', 'warn', 'error'],
  ],
  [['agent', '--config', ''], [':file']],
  [
    ['agent', ''],
    ['reload', 'validate'],
  ],
  [['agent', 'validate', 'a.hcl', ''], []],
  [['job', '--token', ''], []],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['nonsense', ''], []],
])('after %j comes %j', async (words, expected) => {
  expect(await complete(...words)).toEqual(expected);
});

test('a refusal of the server gives no candidates and no error', async () => {
  expect(await run(['__complete', 'eval', 'status', ''], { server })).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: '',
  });
});

test.each(Object.keys(shellScripts))('completion %s prints its script', async (shell) => {
  const { exitCode, stdout } = await run(['completion', shell]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: shellScripts[shell] });
});

test('another shell is refused', async () => {
  const { exitCode, stderr } = await run(['completion', 'toString']);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 'Error: There is no completion for "toString".\nGive one of bash, zsh, fish.\n',
  });
});

test('bash takes the candidates, without their descriptions', () => {
  const script = `${shellScripts.bash}
fake() { printf 'web\\trunning\\nwork er\\tdead\\n'; }
COMP_WORDS=(fake job status w); COMP_CWORD=3
_roster
printf '%s;' "\${COMPREPLY[@]}"`;
  expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' })).toBe('web;work er;');
});
