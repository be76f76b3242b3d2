/** A server-only agent with several nodes, each a process of its own, with real tasks. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Agent,
  command,
  endAgents,
  eventually,
  type HttpAnswer,
  launch,
  newDirectory,
  processesOf,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, idle, job, shell } from '../support/jobs.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const serverDirectory = newDirectory();
let server: Agent;

/** Resolves with the node's id when it is ready. */
async function startNode(name: string): Promise<string> {
  const node = launch(command, [
    'agent',
    '--servers',
    server.address,
    '--node-name',
    name,
    '--tasks-on-exit',
    'stop',
    '--data-dir',
    newDirectory(name),
    '--allow-drivers',
    'raw_exec',
    '--introduction-token-file',
    await server.introductionFile(),
  ]);
  const [, id = ''] = await node.says(/Roster is ready as node (\S+) of /);
  await server.until('/v1/nodes', (json) => {
    const ready = json.filter(({ Status }: { Status: string }) => Status === 'ready');
    expect(ready.map(({ Name }: { Name: string }) => Name)).toContain(name);
  });
  return server
    .get('/v1/nodes')
    .then((list) => list.find(({ ID }: { ID: string }) => ID.startsWith(id)).ID);
}

let nodes: readonly [string, string];
beforeAll(async () => {
  server = await startAgent({ dataDirectory: serverDirectory, args: ['--server-only'] });
  nodes = [await startNode('one'), await startNode('two')];
});
afterAll(endAgents);

const live = (json: HttpAnswer['json']): Allocation[] =>
  (json as Allocation[]).filter(
    ({ DesiredStatus, ClientStatus }) => DesiredStatus === 'run' && ClientStatus === 'running',
  );
const running = (id: string, nodeIds: readonly string[]) =>
  server.until(`/v1/job/${id}/allocations`, (json) => {
    const found = live(json);
    expect(found.map(({ NodeID }) => NodeID).sort()).toEqual([...nodeIds].sort());
    return found;
  });

test('the data of an allocation moves with it to another node and stays for its successor', async () => {
  const other: Readonly<Record<string, string>> = { [nodes[0]]: nodes[1], [nodes[1]]: nodes[0] };
  const keep = [
    'read count 2>/dev/null < $ROSTER_ALLOC_DIR/data/count; echo $((count + 1)) > $ROSTER_ALLOC_DIR/data/count',
    'echo $ROSTER_ALLOC_ID >> $ROSTER_TASK_DIR/seen; chmod 600 $ROSTER_TASK_DIR/seen',
    'echo $TURN; exec sleep 600',
  ].join('\n');
  const keeper = (TURN: string) =>
    job('keeper', {
      group: {
        EphemeralDisk: { Sticky: true, Migrate: true, SizeMB: 150 },
        Migrate: { MaxParallel: 1, MinHealthyTime: '10ms', HealthyDeadline: '20s' },
        Update: { MaxParallel: 1, MinHealthyTime: '10ms' },
      },
      task: { ...shell(keep), Env: { TURN }, KillTimeout: '2s' },
    });
  const read = async ({ ID }: Allocation, path: string): Promise<string> =>
    (await server.request('GET', `/v1/client/fs/cat/${ID}?path=${path}`)).text;
  const kept = async (one: Allocation, count: number, ids: readonly string[]) => {
    await eventually(async () => {
      expect(await read(one, 'alloc/data/count')).toBe(`${count}\n`);
      expect(await read(one, 'task/local/seen')).toBe(ids.map((id) => `${id}\n`).join(''));
    });
  };
  const onlyOne = () =>
    server.until('/v1/job/keeper/allocations', (json) => {
      expect(live(json)).toHaveLength(1);
      return live(json)[0]!;
    });

  await server.register(keeper('first'));
  const first = await onlyOne();
  await kept(first, 1, [first.ID]);

  const drained = await server.cli('node', 'drain', '-enable', first.NodeID);
  expect([drained.code, drained.stderr]).toEqual([0, '']);
  const [second] = await running('keeper', [other[first.NodeID]!]);
  expect(second!.PreviousAllocation).toBe(first.ID);
  await kept(second!, 2, [first.ID, second!.ID]);
  const { json: stat } = await server.request(
    'GET',
    `/v1/client/fs/stat/${second!.ID}?path=task/local/seen`,
  );
  expect(stat.FileMode).toBe('-rw-------');

  // Although all nodes are eligible, the next version stays with its data.
  await server.cli('node', 'eligibility', '-enable', first.NodeID);
  await server.register(keeper('third'));
  const third = await server.until('/v1/job/keeper/allocations', (json) => {
    const [found, ...more] = live(json).filter(({ JobVersion }) => JobVersion === 1);
    expect([found === undefined, more]).toEqual([false, []]);
    return found!;
  });
  expect(third.NodeID).toBe(second!.NodeID);
  await kept(third, 3, [first.ID, second!.ID, third.ID]);
  await server.cli('job', 'stop', '-purge', 'keeper');
});

test('a system job runs on every node, also on one that joins, and ends on all', async () => {
  await server.register(job('everywhere', { job: { Type: 'system' }, task: idle }));
  await running('everywhere', nodes);
  const third = await startNode('three');
  const all = await running('everywhere', [...nodes, third]);
  expect(all.map((one) => processesOf(one).length > 0)).toEqual([true, true, true]);
  await server.cli('node', 'drain', '-enable', third);
  await running('everywhere', nodes);
  await server.cli('node', 'eligibility', '-enable', third);
  const again = await running('everywhere', [...nodes, third]);
  await server.cli('job', 'stop', '-purge', 'everywhere');
  await eventually(() => expect([...all, ...again].flatMap(processesOf)).toEqual([]));
});
