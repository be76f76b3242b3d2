/** docs/reference/environment.md names what tasks get, and nothing else. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { complete } from '../../src/model/complete.ts';
import { NodeRegistrationSchema } from '../../src/model/node/node.ts';
import { allocationDirectories, taskDirectories } from '../../src/node/directories.ts';
import { taskEnvironment } from '../../src/node/environment/environment.ts';
import { hostEnvironment } from '../../src/node/environment/host-environment.ts';
import { testAllocation, testJob } from '../../src/node/records.test-helper.ts';

const page = readFileSync(new URL('../../docs/reference/environment.md', import.meta.url), 'utf8');
const firstColumn = (under: string): readonly string[] => {
  const section = page.split(`\n## ${under}\n`)[1]!.split('\n## ')[0]!;
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!);
};

/** A task of a job that has everything. */
function everything() {
  const job = testJob([{ Name: 'tsk', Meta: { KEY: 'v' } }], { ParentID: 'parent' });
  const port = { Value: 1, To: 2, HostIP: '10.0.0.1' };
  const allocation = testAllocation({
    NetworkStatus: { InterfaceName: 'eth0', Address: '172.16.0.2' },
    AllocatedResources: {
      Tasks: {
        tsk: {
          Cpu: { CpuShares: 1, ReservedCores: [1] },
          Memory: { MemoryMB: 1, MemoryMaxMB: 2 },
          Networks: [{ IP: '10.0.0.1', DynamicPorts: [{ Label: 'lbl', ...port }] }],
        },
      },
      Shared: { Ports: [{ Label: 'lbl', ...port }] },
    },
  });
  const group = job.TaskGroups[0]!;
  return taskEnvironment({
    node: complete(NodeRegistrationSchema, {
      ID: 'n',
      Attributes: { name: 'a' },
      Meta: { key: 'm' },
    }),
    region: 'r',
    allocation,
    job,
    group,
    task: group.Tasks[0]!,
    isolation: 'none',
    directories: taskDirectories(allocationDirectories('/data', allocation.ID), 'tsk'),
    added: {},
    host: {},
  });
}

test('the table of variables is that of the program', () => {
  const given = Object.keys(everything().variables).map((name) =>
    name.replace('tsk_lbl', '<task>_<label>').replace('lbl', '<label>').replace('_KEY', '_<key>'),
  );
  expect([...firstColumn('Variables')].sort()).toEqual([...new Set(given)].sort());
});

test('every reference that it lists has a value', () => {
  const { lookup } = everything();
  const written = firstColumn('References');
  expect(written).toHaveLength(9);
  for (const reference of written) {
    const name = reference
      .slice('${'.length, -1)
      .replace('<name>', 'name')
      .replace('<key>', 'key')
      .replace('<variable>', 'ROSTER_JOB_ID');
    expect([reference, lookup(name)]).toEqual([reference, expect.any(String)]);
  }
});

test('a task inherits the listed variables of the agent’s environment', () => {
  const [, sentence] = /a task gets ([\s\S]*?), and nothing else/.exec(page)!;
  const names = [...sentence!.matchAll(/`([A-Z_]+)\*?`/g)].map(([, name]) => name!);
  const agent = Object.fromEntries(
    [...names, 'LC_ALL', 'ROSTER_TOKEN', 'SECRET'].map((name) => [name, 'x']),
  );
  const passed = Object.keys(hostEnvironment(agent)).map((name) => name.replace('LC_ALL', 'LC_'));
  expect([...new Set(passed)].sort()).toEqual([...names].sort());
});
