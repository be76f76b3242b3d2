/** Isolated tasks and their faults, seen through the API, with real processes. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leftoversOf } from '../../src/node/orphans.test-helper.ts';
import {
  type Agent,
  endAgents,
  eventually,
  newDirectory,
  processesOf,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, job, once, taskOf } from '../support/jobs.ts';

const dataDirectory = newDirectory();
const allocations = new Set<string>();
let agent: Agent;

beforeAll(async () => {
  agent = await startAgent({ dataDirectory });
});
afterAll(async () => {
  await endAgents();
  expect([...allocations].flatMap(leftoversOf)).toEqual([]);
});

const shell = (script: string, config = {}) => ({
  Driver: 'exec',
  Config: { command: '/bin/sh', args: ['-c', script], ...config },
});

/** Registers the job and waits until its allocation has the status. */
async function until(id: string, status: string, task?: object): Promise<Allocation> {
  if (task !== undefined) {
    await agent.register(job(id, { job: { Type: 'batch' }, group: once, task }));
  }
  return agent.until(`/v1/job/${id}/allocations`, (all: Allocation[]) => {
    for (const { ID } of all) allocations.add(ID);
    expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual([status]);
    return all[0]!;
  });
}

const lastOf = (allocation: Allocation, type: string) =>
  taskOf(allocation).Events.findLast(({ Type }) => Type === type);

const logOf = async (allocation: Allocation, ...words: string[]) =>
  (await agent.cli('alloc', 'logs', ...words, allocation.ID)).stdout;

/** The shells of the task, without forked processes that become other programs. */
const shellsOf = (allocation: Allocation): number[] =>
  processesOf(allocation).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('/bin/sh');
    } catch {
      return false;
    }
  });

test('the node has the drivers with their attributes', async () => {
  const ID = await agent.until('/v1/nodes', ([node]) => {
    expect(node).toBeDefined();
    return node.ID;
  });
  const { Drivers, Attributes } = await agent.get(`/v1/node/${ID}`);
  expect(Object.keys(Drivers)).toEqual(expect.arrayContaining(['exec', 'java', 'raw_exec']));
  expect(Attributes).toMatchObject({
    'driver.exec': '1',
    'driver.exec.bubblewrap': expect.stringMatching(/^\d/),
    'driver.java': '1',
    'driver.java.version': expect.stringMatching(/^\d/),
  });
});

test('a task sees its own directories under the paths in its environment', async () => {
  const text =
    'pwd; echo $ROSTER_ALLOC_DIR $ROSTER_TASK_DIR $ROSTER_SECRETS_DIR $HOME; id -un; echo x > $ROSTER_TASK_DIR/x; cat $ROSTER_TASK_DIR/x';
  const done = await until('inside', 'complete', shell(text));
  expect(await logOf(done)).toBe('/\n/alloc /local /secrets\nroster-task\nx\n');
});

test('files and commands of a task belong to the allocation’s own user', async () => {
  const Templates = [{ EmbeddedTmpl: 'x', DestPath: 'local/made' }];
  const task = { ...shell('exec sleep 600'), Templates, Identity: { File: true } };
  const { ID } = await until('owned', 'running', task);
  const look = 'id -un; stat -c %U /local/made /secrets/roster_token /alloc/data /tmp';
  const { stdout } = await agent.cli('alloc', 'exec', ID, 'sh', '-c', look);
  expect(stdout).toBe('roster-task\n'.repeat(5));
  await agent.cli('job', 'stop', 'owned');
});

test('a task that exceeds its memory is killed, and its event gives the reason', async () => {
  const eats = shell('head -c 200000000 /dev/zero | tail');
  const failed = await until('eats', 'failed', eats);
  expect(lastOf(failed, 'Terminated')).toMatchObject({
    DisplayMessage: 'Exit Code: 137, Signal: 9, Exit Message: "OOM Killed"',
    Details: { exit_code: '137', signal: '9', oom_killed: 'true' },
  });
});

test('a task whose command is not in its sandbox fails with the reason', async () => {
  const failed = await until('blind', 'failed', { Driver: 'exec', Config: { command: '/root/x' } });
  expect(lastOf(failed, 'Driver Failure')?.DisplayMessage).toBe(
    'the command "/root/x" is not visible to the task',
  );
});

test('a task that requests more than the node allows fails with the reason', async () => {
  const failed = await until('greedy', 'failed', shell('true', { cap_add: ['sys_admin'] }));
  expect(lastOf(failed, 'Failed Validation')?.DisplayMessage).toMatch(
    /Config.cap_add names "sys_admin", and isolation.allow_capabilities of this node allows net_bind_service$/,
  );
});

test.each(['exec', 'raw_exec'])(
  '%s: a task that forks, hides and ignores its signals is ended with all that it started',
  async (Driver) => {
    const text = `
      trap "" INT TERM HUP
      for i in 1 2 3; do setsid -f env -i sh -c 'trap "" INT TERM; sleep 600; :'; done
      i=0; while [ $i -lt 100 ]; do sleep 600 & i=$((i+1)); done 2>/dev/null
      echo ready; wait`;
    const id = `stubborn-${Driver}`;
    const task = { ...shell(text), Driver, KillTimeout: '100ms' };
    const running = await until(id, 'running', task);
    await eventually(async () => expect(await logOf(running)).toBe('ready\n'));
    // A process that becomes another program has no environment for a moment.
    await eventually(() => expect(processesOf(running).length).toBeGreaterThan(100));
    await agent.cli('job', 'stop', id);
    const ended = await until(id, 'complete');
    expect(lastOf(ended, 'Killed')).toBeDefined();
    expect(leftoversOf(running.ID)).toEqual([]);
  },
);

test('a task whose first process is killed fails, and no process is left', async () => {
  const running = await until('struck', 'running', shell('sleep 600 & echo ready; wait'));
  await eventually(async () => expect(await logOf(running)).toBe('ready\n'));
  for (const pid of shellsOf(running)) process.kill(pid, 'SIGKILL');
  const failed = await until('struck', 'failed');
  expect(lastOf(failed, 'Terminated')?.Details).toMatchObject({ signal: '9', oom_killed: 'false' });
  expect(leftoversOf(running.ID)).toEqual([]);
});

test('after a kill, the next agent finds its isolated tasks unchanged', async () => {
  const text = 'trap "exit 0" INT; sleep 600 & echo ready; wait';
  const before = await until('lasting', 'running', shell(text));
  await eventually(async () => expect(await logOf(before)).toBe('ready\n'));
  const [pid] = shellsOf(before);
  await agent.stop('SIGKILL');
  expect(shellsOf(before)).toEqual([pid]);
  agent = await startAgent({ dataDirectory });
  const after = await until('lasting', 'running');
  expect([after.ID, taskOf(after).Restarts, shellsOf(before)]).toEqual([before.ID, 0, [pid]]);
  await agent.cli('job', 'stop', 'lasting');
  const ended = await until('lasting', 'complete');
  expect(lastOf(ended, 'Terminated')?.DisplayMessage).toBe('Exit Code: 0');
});
