/** Tasks that end, and jobs that change. Each test has a job of its own. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, eventually, processesOf, startAgent } from '../support/agent.ts';
import {
  type Allocation,
  byName,
  eventTypes,
  idle,
  job,
  node,
  once,
  shell,
  taskOf,
} from '../support/jobs.ts';

let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
});
afterAll(endAgents);

const allocationsUntil = <T>(id: string, check: (all: Allocation[]) => T): Promise<T> =>
  agent.until(`/v1/job/${id}/allocations`, (all: Allocation[]) => check(all.sort(byName)));

const statusUntil = (id: string, status: string) =>
  agent.until(`/v1/job/${id}`, (body) => expect(body.Status).toBe(status));

const logUntil = ({ ID }: Pick<Allocation, 'ID'>, text: string) =>
  eventually(async () => expect((await agent.cli('alloc', 'logs', ID)).stdout).toBe(text));

const running = (all: readonly Allocation[]) =>
  all.filter(
    ({ DesiredStatus, ClientStatus }) => `${DesiredStatus} ${ClientStatus}` === 'run running',
  );

test.concurrent('a batch job runs to its end and is then dead', async () => {
  const body = job('sums', {
    job: { Type: 'batch' },
    group: { Count: 2 },
    task: shell('echo "$ROSTER_ALLOC_INDEX of $ROSTER_JOB_ID"; echo aside >&2'),
  });
  const words = ['job', 'run', '-'] as const;
  expect(await agent.cliWith(JSON.stringify(body), ...words)).toMatchObject({ code: 0 });
  const done = await allocationsUntil('sums', (all) => {
    expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual(['complete', 'complete']);
    return all;
  });
  await statusUntil('sums', 'dead');
  expect(done.map(taskOf)).toEqual(
    done.map(() => expect.objectContaining({ State: 'dead', Failed: false, Restarts: 0 })),
  );
  expect(eventTypes(done[0]!)).toEqual(['Received', 'Task Setup', 'Started', 'Terminated']);
  const [one, other] = await Promise.all([
    agent.cli('alloc', 'logs', done[1]!.ID),
    agent.cli('alloc', 'logs', '-stderr', done[0]!.ID),
  ]);
  expect([one.stdout, other.stdout]).toEqual(['1 of sums\n', 'aside\n']);
  expect((await agent.get('/v1/job/sums/summary')).Summary.main).toMatchObject({ Complete: 2 });
});

test.concurrent('a failing batch job is retried by its policy and then fails', async () => {
  const body = job('fails', {
    job: { Type: 'batch' },
    group: {
      ...once,
      RestartPolicy: { Attempts: 1, Interval: '1m', Delay: '20ms', Mode: 'fail' },
    },
    task: shell('echo try; exit 7'),
  });
  await agent.register(body);
  const [failed] = await allocationsUntil('fails', (all) => {
    expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual(['failed']);
    return all;
  });
  await statusUntil('fails', 'dead');
  expect(taskOf(failed!)).toMatchObject({ State: 'dead', Failed: true, Restarts: 1 });
  expect(eventTypes(failed!)).toEqual([
    'Received',
    'Task Setup',
    'Started',
    'Terminated',
    'Restarting',
    'Started',
    'Terminated',
    'Not Restarting',
  ]);
  const [terminated, notRestarting] = taskOf(failed!).Events.slice(-2);
  expect(terminated!.Details).toMatchObject({ exit_code: '7', signal: '0' });
  expect(notRestarting!.DisplayMessage).toBe(
    'Exceeded allowed attempts 1 in interval 1m0s and mode is "fail"',
  );
  expect((await agent.cli('alloc', 'logs', failed!.ID)).stdout).toBe('try\ntry\n');
  const { code, stdout } = await agent.cliWith(JSON.stringify(body), 'job', 'run', '-');
  expect([code, stdout]).toEqual([0, expect.stringContaining('Nothing had to be changed.')]);
});

test.concurrent('a service with the restart mode "delay" waits for the next interval and continues', async () => {
  const RestartPolicy = { Attempts: 1, Interval: '5s', Delay: 0, Mode: 'delay' };
  await agent.register(job('delays', { group: { ...once, RestartPolicy }, task: shell('exit 1') }));
  await allocationsUntil('delays', ([allocation]) => {
    expect(allocation!.ClientStatus).not.toBe('failed');
    const reasons = taskOf(allocation!)
      .Events.filter(({ Type }) => Type === 'Restarting')
      .map(({ Details }) => Details.restart_reason!);
    const delayed = reasons.indexOf('Exceeded allowed attempts, applying a delay');
    expect(delayed).toBeGreaterThanOrEqual(0);
    expect(reasons.slice(delayed)).toContain('Restart within policy');
  });
});

test.concurrent('a failed service is replaced by its reschedule policy', async () => {
  const ReschedulePolicy = {
    Attempts: 0,
    Unlimited: true,
    Delay: '5s',
    DelayFunction: 'constant',
  };
  const group = { RestartPolicy: once.RestartPolicy, ReschedulePolicy };
  await agent.register(job('returns', { group, task: shell('exit 1') }));
  const waiting = await allocationsUntil('returns', (all) => {
    const first = all.find(({ PreviousAllocation }) => PreviousAllocation === '');
    expect(first).toMatchObject({
      ClientStatus: 'failed',
      FollowupEvalID: expect.stringMatching(/./),
    });
    return first!;
  });
  expect(eventTypes(waiting).slice(-2)).toEqual(['Not Restarting', 'Alloc Unhealthy']);
  const { WaitUntil } = await agent.get(`/v1/evaluation/${waiting.FollowupEvalID}`);
  const dueMs = Date.parse(WaitUntil);
  const failed = await agent.get(`/v1/allocation/${waiting.ID}`);
  expect(dueMs).toBeGreaterThan(Date.parse(failed.TaskStates.task.FinishedAt) + 4_000);
  const { ID } = await allocationsUntil('returns', (all) => {
    const first = all.find((one) => one.ID === waiting.ID)!;
    const next = all.find((one) => one.ID === first.NextAllocation)!;
    expect(next).toMatchObject({ Name: first.Name, ClientStatus: 'failed' });
    return next;
  });
  const { CreateTime } = await agent.get(`/v1/allocation/${ID}`);
  // Timers and the wall clock may differ slightly.
  expect(CreateTime / 1e6).toBeGreaterThan(dueMs - 100);
  await agent.cli('job', 'stop', 'returns');
});

test.concurrent('a changed task replaces every allocation and keeps the names', async () => {
  const body = (GREETING: string) =>
    job('changes', {
      group: { Count: 2, Update: { MaxParallel: 0 } },
      task: {
        ...node('console.log(process.env.GREETING); setInterval(() => {}, 1e9)'),
        Env: { GREETING },
      },
    });
  await agent.register(body('one'));
  const before = await allocationsUntil('changes', (all) => {
    expect(running(all)).toHaveLength(2);
    return running(all);
  });
  await logUntil(before[0]!, 'one\n');
  await agent.register(body('two'));
  const after = await allocationsUntil('changes', (all) => {
    const old = all.filter(({ JobVersion }) => JobVersion === 0);
    expect(old.map(({ ID }) => ID)).toEqual(before.map(({ ID }) => ID));
    for (const one of old) {
      expect(one).toMatchObject({ DesiredStatus: 'stop', ClientStatus: 'complete' });
    }
    expect(running(all).map(({ JobVersion }) => JobVersion)).toEqual([1, 1]);
    return running(all);
  });
  expect(after.map(({ Name }) => Name)).toEqual(['changes.main[0]', 'changes.main[1]']);
  expect(before.flatMap(processesOf)).toEqual([]);
  await logUntil(after[0]!, 'two\n');
  expect((await agent.cli('alloc', 'logs', before[0]!.ID)).stdout).toBe('one\n');
  expect(await agent.get('/v1/job/changes')).toMatchObject({ Version: 1, Status: 'running' });
});

test.concurrent('a changed count keeps the allocations within the count', async () => {
  const scaled = async (Count: number) => {
    await agent.register(job('scales', { group: { Count }, task: idle }));
    return allocationsUntil('scales', (all) => {
      expect(running(all)).toHaveLength(Count);
      const stopped = all.filter(({ DesiredStatus }) => DesiredStatus === 'stop');
      for (const one of stopped) expect(one.ClientStatus).toBe('complete');
      return running(all);
    });
  };
  const two = await scaled(2);
  const four = await scaled(4);
  expect(four.map(({ Name }) => Name)).toEqual(
    [0, 1, 2, 3].map((index) => `scales.main[${index}]`),
  );
  expect(four.slice(0, 2).map(({ ID }) => ID)).toEqual(two.map(({ ID }) => ID));
  const one = await scaled(1);
  expect(one.map(({ ID }) => ID)).toEqual([two[0]!.ID]);
  expect(four.slice(1).flatMap(processesOf)).toEqual([]);
  const none = await scaled(0);
  expect([none, processesOf(two[0]!)]).toEqual([[], []]);
});

const ended = async (id: string, script: string, task: object) => {
  await agent.register(job(id, { task: { ...node(script), ...task } }));
  const [{ ID }] = (await allocationsUntil(id, (all) => {
    expect(running(all)).toHaveLength(1);
    return all;
  })) as [Allocation];
  await logUntil({ ID }, 'ready\n');
  const { code, stdout } = await agent.cli('job', 'stop', id);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Nothing of it runs any more.')]);
  const allocation: Allocation = await agent.get(`/v1/allocation/${ID}`);
  expect([processesOf(allocation), allocation.ClientStatus]).toEqual([[], 'complete']);
  expect(eventTypes(allocation).slice(-3)).toEqual(['Killing', 'Terminated', 'Killed']);
  const { Details } = taskOf(allocation).Events.at(-2)!;
  return { log: (await agent.cli('alloc', 'logs', ID)).stdout, ...Details };
};

const stubborn = (signal: string) => `
  for (const name of ['SIGINT', 'SIGTERM', 'SIGUSR1']) process.on(name, () => console.log(name));
  process.on('${signal}', () => process.exit(4));
  setInterval(() => {}, 1e9);
  console.log('ready');
`;

test.concurrent('a stopped task gets its signal and time to end', async () => {
  const end = await ended('polite', stubborn('SIGUSR1'), { KillSignal: 'SIGUSR1' });
  expect(end).toMatchObject({ log: 'ready\nSIGUSR1\n', exit_code: '4', signal: '0' });
});

test.concurrent('a task that ignores its signal is killed after its timeout', async () => {
  // Enough time to report the signal.
  const task = { KillSignal: 'SIGTERM', KillTimeout: '3s' };
  const end = await ended('deaf', stubborn('SIGHUP'), task);
  expect(end).toMatchObject({ log: 'ready\nSIGTERM\n', signal: '9' });
});

test.concurrent('a child process that leaves the process group of a stopped task is ended too', async () => {
  const script = 'setsid sleep 1000 & sleep 1000 & echo ready; wait';
  const end = await ended('flees', '', shell(script));
  expect(end.log).toBe('ready\n');
});
