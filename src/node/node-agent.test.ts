import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import type { AllocationReport } from '../model/allocation/allocation.ts';
import { complete } from '../model/complete.ts';
import type { ByteStream } from '../model/node-stream/byte-stream.ts';
import { DisconnectSchema } from '../model/task-group/policies.ts';
import {
  assignment,
  dataDirectory,
  eventsOf,
  id,
  optionsOf,
  running,
  servers,
  startAgent,
} from './agents.test-helper.ts';
import { eventually } from './eventually.test-helper.ts';
import { NodeAgent } from './node-agent.ts';
import { testAllocation, testJob } from './records.test-helper.ts';
import type { Assignment } from './server-api.ts';
import { supervisorPaths } from './supervisor/paths.ts';
import { readTable } from './supervisor/task-table.ts';

describe('an allocation', () => {
  test('runs as a process, and ends when the servers say so', async () => {
    await startAgent();
    await eventually(() => expect(servers.node?.Name).toBe('alpha'));
    servers.assign([assignment('echo $ROSTER_JOB_ID $ROSTER_TOKEN; exec sleep 600')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    const log = join(dataDirectory, 'alloc', id(1), 'alloc', 'logs', 'app.stdout.0');
    await eventually(() => expect(readFileSync(log, 'utf8')).toBe('web\n'));
    expect(running()).toHaveLength(1);
    servers.assign([assignment('', { desired: 'stop' })]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
    expect(running()).toEqual([]);
  });

  test('that disappears from the list is ended', async () => {
    await startAgent();
    servers.assign([assignment('exec sleep 600')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    servers.assign([]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
    expect(running()).toEqual([]);
  });

  test('whose command does not exist fails with the reason', async () => {
    const job = testJob([{ Name: 'app', Driver: 'raw_exec', Config: { command: 'no-such' } }]);
    await startAgent();
    servers.assign([{ Allocation: testAllocation({ ID: id(1) }), Job: job }]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('failed'));
    const events = servers.reports.get(id(1))?.TaskStates.app?.Events ?? [];
    expect(events.at(-2)).toMatchObject({
      Type: 'Driver Failure',
      DriverError: expect.stringMatching(/the command "no-such" was not found in /),
    });
    expect(events.at(-1)).toMatchObject({ Type: 'Not Restarting', FailsTask: true });
  });

  test('with a driver that the node does not allow is refused by the node itself', async () => {
    await startAgent({ allowedDrivers: {} });
    servers.assign([assignment('exec sleep 600')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('failed'));
    expect(servers.node?.Drivers.raw_exec).toMatchObject({
      Detected: false,
      Healthy: false,
      HealthDescription: 'not allowed on this node: drivers.allow',
    });
    expect(servers.node?.Attributes['driver.raw_exec']).toBeUndefined();
    const events = servers.reports.get(id(1))?.TaskStates.app?.Events ?? [];
    expect(events.at(-2)).toMatchObject({
      Type: 'Driver Failure',
      DriverError: 'the driver "raw_exec" is not allowed on this node: drivers.allow',
    });
    expect(running()).toEqual([]);
  });

  test('goes on while the node takes other settings, which servers are told', async () => {
    const agent = await startAgent({
      settings: { name: 'alpha', address: '127.0.0.1', meta: { rack: 'r1' } },
    });
    await agent.registered();
    servers.assign([assignment('exec sleep 600')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    const [before] = running();
    const change = { meta: { rack: 'r2' }, nodeClass: 'large', isRemoteExecDisabled: false };
    await agent.configure({ ...change, drivers: { allow: ['exec'] } });
    await eventually(() =>
      expect(servers.node).toMatchObject({
        Meta: { rack: 'r2' },
        NodeClass: 'large',
        Drivers: { raw_exec: { Detected: false } },
      }),
    );
    expect(servers.node?.Attributes['driver.raw_exec']).toBeUndefined();
    expect(running().map(({ pid }) => pid)).toEqual([before!.pid]);
    servers.assign([assignment('exec sleep 600'), assignment('exec sleep 600', { number: 2 })]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('failed'));
    await agent.configure({ ...change, drivers: { allow: ['raw_exec'] } });
    await eventually(() =>
      expect(servers.node?.Drivers.raw_exec).toMatchObject({ Detected: true, Healthy: true }),
    );
    servers.assign([assignment('exec sleep 600'), assignment('exec sleep 600', { number: 3 })]);
    await eventually(() => expect(servers.statusOf(id(3))).toBe('running'));
  });

  test('whose driver is no longer allowed goes on, and is not started again', async () => {
    const { Allocation, Job } = assignment('exec sleep 600');
    const [group] = Job.TaskGroups;
    const [task] = group!.Tasks;
    const RestartPolicy = { ...task!.RestartPolicy!, Attempts: 5, Delay: 0 };
    const Tasks = [{ ...task!, RestartPolicy }];
    servers.assign([{ Allocation, Job: { ...Job, TaskGroups: [{ ...group!, Tasks }] } }]);
    const first = await startAgent();
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    const [before] = running();
    await first.stop({ stopTasks: false });
    const second = await startAgent({ allowedDrivers: { allow: ['exec'] } });
    expect(second.allocations?.get(id(1))?.report.ClientStatus).toBe('running');
    expect(running().map(({ pid }) => pid)).toEqual([before!.pid]);
    process.kill(before!.pid, 'SIGKILL');
    await eventually(() => expect(servers.statusOf(id(1))).toBe('failed'));
    const events = eventsOf(servers.reports.get(id(1)));
    expect(events.slice(-4)).toEqual([
      'Terminated',
      'Restarting',
      'Driver Failure',
      'Not Restarting',
    ]);
    expect(running()).toEqual([]);
  });

  test('that the servers already want ended is reported complete and never started', async () => {
    await startAgent();
    servers.assign([assignment('exec sleep 600', { desired: 'stop' })]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
    expect(eventsOf(servers.reports.get(id(1)))).toEqual(['Received']);
  });
});

test('a failed start leaves no supervisor behind', async () => {
  writeFileSync(join(dataDirectory, 'allocations'), 'not a directory');
  const agent = new NodeAgent(optionsOf());
  await expect(agent.start()).rejects.toThrow();
  await agent.stop({ stopTasks: false });
  expect(readTable(supervisorPaths(dataDirectory).table).supervisorPid).toBeUndefined();
});

const statusOf = (number: number) => servers.statusOf(id(number));

describe('lost servers', () => {
  test('end no task and lose no report', async () => {
    await startAgent();
    servers.assign([assignment('exec sleep 600'), assignment('sleep 0.2; exit 3', { number: 2 })]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    servers.lose();
    await eventually(() => expect(running(2)).toEqual([]));
    expect(running()).toHaveLength(1);
    servers.reachable = true;
    await eventually(() => expect(servers.statusOf(id(2))).toBe('failed'));
    servers.assign([assignment('', { desired: 'stop' })]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
  });

  test('end allocations with StopOnClientAfter in time, even if the agent restarts meanwhile', async () => {
    const { Allocation, Job } = assignment('exec sleep 600');
    const Disconnect = complete(DisconnectSchema, { StopOnClientAfter: 60e9 });
    const TaskGroups = Job.TaskGroups.map((group) => ({ ...group, Disconnect }));
    servers.assign([
      { Allocation, Job: { ...Job, TaskGroups } },
      assignment('exec sleep 600', { number: 2 }),
    ]);
    const first = await startAgent();
    await eventually(() => expect([1, 2].map(statusOf)).toEqual(['running', 'running']));
    servers.lose();
    await first.stop({ stopTasks: false });
    const path = join(dataDirectory, 'server-contact.json');
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...kept, lastMs: kept.lastMs - 61_000 }));
    await startAgent();
    await eventually(() => expect(running(1)).toEqual([]));
    expect(running(2)).toHaveLength(1);
    servers.reachable = true;
    await eventually(() => expect([1, 2].map(statusOf)).toEqual(['complete', 'running']));
  });

  test('that come back without their data get the node’s registration again', async () => {
    await startAgent({ introduction: async () => 'introduction' });
    await eventually(() => expect(servers.connection).toBeDefined());
    servers.forgetNode();
    servers.assign([]);
    await eventually(() => expect(servers.node).toBeDefined());
    expect(servers.tokens).toEqual(['introduction', 'secret']);
  });
});

describe('the next agent', () => {
  test('has the same identity, which nobody else can read', async () => {
    const first = await startAgent();
    await first.stop({ stopTasks: true });
    const second = await startAgent();
    expect(second.id).toBe(first.id);
    expect(statSync(join(dataDirectory, 'node.json')).mode & 0o777).toBe(0o600);
  });

  test('starts tasks that ended with the agent again', async () => {
    const first = await startAgent();
    servers.assign([assignment('exec sleep 600')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    await first.stop({ stopTasks: true });
    expect(running()).toEqual([]);
    await startAgent();
    await eventually(() => expect(running()).toHaveLength(1));
    expect(servers.reports.get(id(1))?.TaskStates.app).toMatchObject({ Restarts: 0 });
  });
});

describe('kill -9 of the agent', () => {
  let children: ChildProcess[] = [];
  // Before the shared hook removes the directory.
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    children = [];
  });

  function startChild(assignments: readonly Assignment[]) {
    const entry = fileURLToPath(new URL('./agent-process.test-helper.ts', import.meta.url));
    const options = JSON.stringify({ dataDirectory, assignments });
    const child = spawn(process.execPath, [entry, options], { stdio: ['pipe', 'pipe', 'pipe'] });
    children.push(child);
    const reports = new Map<string, AllocationReport>();
    let text = '';
    child.stdout.on('data', (chunk) => {
      const lines = `${text}${chunk}`.split('\n');
      text = lines.pop()!;
      for (const line of lines) {
        const report = JSON.parse(line) as AllocationReport;
        reports.set(report.ID, report);
      }
    });
    return { child, reports };
  }

  test('leaves the tasks alone; the next agent finds them, and exits from meanwhile', async () => {
    const assignments = [
      assignment('exec sleep 600'),
      assignment(`while [ ! -e ${dataDirectory}/go ]; do sleep 0.02; done; exit 4`, { number: 2 }),
    ];
    const first = startChild(assignments);
    await eventually(() => {
      expect(first.reports.get(id(1))?.ClientStatus).toBe('running');
      expect(first.reports.get(id(2))?.ClientStatus).toBe('running');
    });
    const [before] = running();
    first.child.kill('SIGKILL');
    await eventually(() => expect(first.child.signalCode).toBe('SIGKILL'));
    writeFileSync(join(dataDirectory, 'go'), '');
    await eventually(() => expect(running(2)).toEqual([]));

    const second = startChild(assignments);
    await eventually(() => {
      expect(second.reports.get(id(1))?.ClientStatus).toBe('running');
      expect(second.reports.get(id(2))?.ClientStatus).toBe('failed');
    });
    expect(running().map(({ pid }) => pid)).toEqual([before!.pid]);
    expect(eventsOf(second.reports.get(id(1)))).toEqual(['Received', 'Task Setup', 'Started']);
    const ended = second.reports.get(id(2))?.TaskStates.app?.Events ?? [];
    expect(ended.find(({ Type }) => Type === 'Terminated')?.ExitCode).toBe(4);
  });
});

describe('logs over the stream', () => {
  /** The lines after the head. */
  async function readAll(stream: ByteStream): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return Buffer.concat(chunks)
      .toString()
      .replace(/^\{\}\n/, '');
  }

  const params = { alloc_id: id(1), task: 'app', type: 'stdout', plain: true };

  test('are followed to the end of the task, and read again afterwards', async () => {
    await startAgent();
    const script = `echo one; while [ ! -e ${dataDirectory}/go ]; do sleep 0.02; done; echo two`;
    servers.assign([assignment(script)]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    await eventually(() => expect(servers.connection).toBeDefined());
    const following = readAll(servers.connection!.open('logs', { ...params, follow: true }));
    writeFileSync(join(dataDirectory, 'go'), '');
    expect(await following).toBe('one\ntwo\n');
    const read = (change: object) =>
      readAll(servers.connection!.open('logs', { ...params, ...change }));
    expect(await read({})).toBe('one\ntwo\n');
    expect(await read({ origin: 'end', offset: 4 })).toBe('two\n');
    expect(await read({ origin: 'start', offset: 2 })).toBe('e\ntwo\n');
    const frame = { File: 'alloc/logs/app.stdout.0', Offset: 4, Data: 'dHdvCg==' };
    expect(JSON.parse(await read({ plain: false, offset: 4 }))).toEqual(frame);
  });

  test.each([
    ['an unknown allocation', { alloc_id: 'nobody' }, 404, /"nobody" is not on this node/],
    ['an unknown task', { task: 'other' }, 404, /has no task "other"; its tasks are: app/],
    ['a wrong type', { type: 'stdlog' }, 400, /"type" must be one of stdout, stderr/],
    ['a wrong offset', { offset: -1 }, 400, /"offset" must be an integer/],
  ])('of %s are refused', async (_name, change, status, message) => {
    await startAgent();
    servers.assign([assignment('exec sleep 600')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    await eventually(() => expect(servers.connection).toBeDefined());
    const stream = servers.connection!.open('logs', { ...params, ...change });
    const error = await readAll(stream).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status, message: expect.stringMatching(message) });
  });
});
