/**
 * Variables, services, templates, checks and commands in tasks together, under a real agent with
 * access control.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import { type Agent, endAgents, eventually, startAgent } from '../support/agent.ts';
import { type Allocation, httpPort, job } from '../support/jobs.ts';

let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
});
afterAll(endAgents);

const atOnce = { Splay: 0, Wait: { Min: 0, Max: 0 } };
const reading = (variable: string) =>
  `{{ with var "${variable}" }}password={{ .password }}{{ end }}\n`;
const template = (text: string, changes: object = {}) => ({
  DestPath: 'local/conf',
  EmbeddedTmpl: text,
  ...atOnce,
  ...changes,
});
/** Prints its file when it starts and when it gets a signal. */
const printing = (Driver: string, Name: string, Templates: readonly object[], changes = {}) => ({
  Name,
  Driver,
  Templates,
  Resources: { CPU: 20, MemoryMB: 32 },
  KillTimeout: '1s',
  Config: {
    command: '/bin/sh',
    args: ['-c', `trap 'cat $ROSTER_TASK_DIR/conf' HUP; kill -HUP $$; while :; do sleep 0.1; done`],
  },
  ...changes,
});
const script = (command: string) => ({
  ChangeMode: 'script',
  ChangeScript: { Command: '/bin/sh', Args: ['-c', command], Timeout: '20s' },
});

const allocationUntil = (id: string, look: (one: Allocation) => void): Promise<Allocation> =>
  agent.until(`/v1/job/${id}/allocations`, (all: Allocation[]) => {
    expect(all).toHaveLength(1);
    look(all[0]!);
    return all[0]!;
  });
const running = (id: string) =>
  allocationUntil(id, ({ ClientStatus }) => expect(ClientStatus).toBe('running'));
const events = (one: Allocation, task: string) =>
  one.TaskStates[task]?.Events.map(({ DisplayMessage }) => DisplayMessage);
const logUntil = ({ ID }: Allocation, task: string, text: string) =>
  eventually(async () => expect((await agent.cli('alloc', 'logs', ID, task)).stdout).toBe(text));
const put = async (path: string, item: string) =>
  expect(await agent.cli('var', 'put', '-force', path, item)).toMatchObject({ code: 0 });

test('an update of a variable reaches the file, and the task is notified', async () => {
  const text = reading('roster/jobs/reader');
  const seen = 'cat "$ROSTER_TASK_DIR/conf" >> "$ROSTER_TASK_DIR/seen"';
  const Tasks = [
    printing('raw_exec', 'restarts', [template(text)]),
    printing('raw_exec', 'hears', [
      template(text, { ChangeMode: 'signal', ChangeSignal: 'SIGHUP' }),
    ]),
    printing('raw_exec', 'scripts', [template(text, script(seen))]),
    printing('exec', 'inside', [template(text, script(`${seen}; id -un >> /local/seen`))]),
  ];
  await agent.register(job('reader', { group: { Tasks }, task: {} }));
  await allocationUntil('reader', (one) => {
    expect(one.ClientStatus).toBe('pending');
    for (const { Name } of Tasks) {
      expect(events(one, Name)).toContainEqual(
        expect.stringContaining('Missing: var roster/jobs/reader'),
      );
    }
  });
  await put('roster/jobs/reader', 'password=one');
  const first = await running('reader');
  // Before that they could not be signalled, and would read the new value at their start.
  for (const { Name } of Tasks) await logUntil(first, Name, 'password=one\n');
  await put('roster/jobs/reader', 'password=two');
  const succeeded = 'Template: the change script /bin/sh succeeded';
  const allocation = await allocationUntil('reader', (one) => {
    expect(one.TaskStates.restarts).toMatchObject({ State: 'running', Restarts: 1 });
    expect(events(one, 'restarts')).toContainEqual(
      expect.stringContaining('change_mode restart re-rendered: local/conf'),
    );
    for (const task of ['scripts', 'inside']) expect(events(one, task)).toContain(succeeded);
  });
  const both = 'password=one\npassword=two\n';
  await logUntil(allocation, 'restarts', both);
  await logUntil(allocation, 'hears', both);
  await logUntil(allocation, 'scripts', 'password=one\n');
  const fileOf = async (path: string) =>
    (await agent.cli('alloc', 'fs', allocation.ID, path)).stdout;
  expect(await fileOf('hears/local/conf')).toBe('password=two\n');
  expect(await fileOf('scripts/local/seen')).toBe('password=two\n');
  expect(await fileOf('inside/local/seen')).toBe('password=two\nroster-task\n');
});

test('a task reads with its own permissions, and nothing of another job', async () => {
  await put('roster/jobs/stranger', 'password=secret');
  const Tasks = [printing('raw_exec', 'task', [template(reading('roster/jobs/stranger'))])];
  await agent.register(job('curious', { group: { Tasks }, task: {} }));
  const { ClientStatus } = await allocationUntil('curious', (one) =>
    expect(events(one, 'task')).toContainEqual(expect.stringContaining('Missing: var')),
  );
  expect(ClientStatus).toBe('pending');
});

test('a template finds the service of another job and follows its changes', async () => {
  const text = '{{ range service "backend" }}{{ .JobID }} {{ .Address }}:{{ .Port }}\n{{ end }}';
  const changes = { ChangeMode: 'signal', ChangeSignal: 'SIGHUP' };
  const Tasks = [printing('raw_exec', 'task', [template(text, changes)])];
  const check = (of: object) => ({ Type: 'script', Interval: '1s', Timeout: '10s', ...of });
  const Services = [
    {
      Name: 'backend',
      PortLabel: 'http',
      Checks: [
        check({
          Name: 'fine',
          Command: '/bin/sh',
          Args: ['-c', 'id -un; cat $ROSTER_TASK_DIR/conf'],
        }),
      ],
    },
  ];
  const ofBackend = [template('ready\n')];
  const backend = (Driver: string) =>
    job(`backend-${Driver}`, {
      group: {
        Networks: httpPort,
        Tasks: [printing(Driver, 'task', ofBackend, { Services, ShutdownDelay: '100ms' })],
      },
      task: {},
    });
  await agent.register(backend('exec'));
  const passing = (count: number) =>
    agent.until('/v1/service/backend', (all: ServiceRegistration[]) => {
      expect(all.map(({ Status }) => Status)).toEqual(Array(count).fill('passing'));
      return all;
    });
  const [instance] = await passing(1);
  const checks = await agent.get(`/v1/client/allocation/${instance!.AllocID}/checks`);
  expect(Object.values(checks)).toEqual([
    expect.objectContaining({ Check: 'fine', Output: 'roster-task\nready' }),
  ]);
  await agent.register(job('front', { group: { Tasks }, task: {} }));
  const allocation = await running('front');
  const line = (job: string, { Address, Port }: ServiceRegistration) =>
    `${job} ${Address}:${Port}\n`;
  const first = line('backend-exec', instance!);
  await logUntil(allocation, 'task', first);
  await agent.register(backend('raw_exec'));
  const all = await passing(2);
  const lines = [...all]
    .sort((left, right) => (left.ID < right.ID ? -1 : 1))
    .map((one) => line(one.JobID, one));
  await logUntil(allocation, 'task', first + lines.join(''));
});

test('commands and actions run in the sandbox of an isolated task and end with it', async () => {
  const Actions = [{ Name: 'who', Command: '/bin/sh', Args: ['-c', 'id -un; exit 4'] }];
  const changes = { User: 'daemon', Actions };
  const tool = { DestPath: 'local/tool', Perms: '0755' };
  const templates = [template('ready\n'), template('#!/bin/sh\necho tool $1', tool)];
  const task = printing('exec', 'task', templates, changes);
  const Config = { ...task.Config, work_dir: '/local' };
  await agent.register(job('inner', { group: { Tasks: [{ ...task, Config }] }, task: {} }));
  const { ID } = await running('inner');
  const exec = (...words: string[]) => agent.cli('alloc', 'exec', ...words);
  const look = 'id -un; pwd; ls -d /alloc /local /proc/1/root/home; echo aside >&2; exit 3';
  const found = await exec(ID, '/bin/sh', '-c', look);
  expect(found).toMatchObject({ code: 3, stdout: 'daemon\n/local\n/alloc\n/local\n' });
  expect(found.stderr).toMatch(/home.*\naside\n$/);
  expect(await exec(ID, 'tool', 'one')).toMatchObject({ code: 0, stdout: 'tool one\n' });
  expect(await exec('-job', 'inner', 'tool', 'two')).toMatchObject({ stdout: 'tool two\n' });
  expect((await exec(ID, 'no-such-thing')).code).toBe(127);
  const terminal = await exec('-t', ID, '/bin/sh', '-c', 'test -t 1 && cat conf; exit 5');
  expect(terminal).toMatchObject({ code: 5, stdout: 'ready\r\n' });
  const action = await agent.cli('job', 'action', '-job', 'inner', 'who');
  expect(action).toMatchObject({ code: 4, stdout: 'daemon\n' });
  const waiting = agent.cliStart('alloc', 'exec', ID, '/bin/sh', '-c', 'echo here; sleep 600');
  await waiting.says(/here\n/);
  expect((await agent.cli('alloc', 'restart', ID)).code).toBe(0);
  expect((await waiting.ended).code).toBe(137);
});
