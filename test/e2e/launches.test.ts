/** Jobs launched by dispatch or by a schedule, with real processes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, eventually, startAgent } from '../support/agent.ts';
import { job, once, shell } from '../support/jobs.ts';

let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
});
afterAll(endAgents);

/** The output of a job's only task, after it has succeeded. */
async function outputOf(id: string): Promise<string> {
  const allocation = await agent.until(`/v1/job/${id}/allocations`, ([one]) => {
    expect(one?.ClientStatus).toBe('complete');
    return one as { ID: string };
  });
  return eventually(async () => {
    const { stdout } = await agent.cli('alloc', 'logs', allocation.ID);
    expect(stdout).not.toBe('');
    return stdout;
  });
}

test.concurrent('a dispatched job reads its payload and meta, and an idempotency token launches it only once', async () => {
  const task = {
    ...shell(
      'cat local/in/payload; echo "|$ROSTER_META_quality|$ROSTER_META_FORMAT|$ROSTER_JOB_PARENT_ID"',
    ),
    DispatchPayload: { File: 'in/payload' },
  };
  const ParameterizedJob = {
    Payload: 'required',
    MetaRequired: ['quality'],
    MetaOptional: ['format'],
  };
  await agent.register(
    job('render', { job: { Type: 'batch', ParameterizedJob }, group: once, task }),
  );

  const words = ['job', 'dispatch', '-idempotency-token', 'one', '-meta', 'quality=high'];
  const first = await agent.cliWith('a picture', ...words, 'render', '-');
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const [, child] = /Dispatched job "(render\/dispatch-\d+-[0-9a-f]{8})"/.exec(first.stdout)!;
  expect(await outputOf(child!)).toBe('a picture|high||render\n');

  const again = await agent.cliWith('a picture', ...words, 'render', '-');
  expect(again.stdout).toContain('Nothing new');
  await eventually(async () =>
    expect((await agent.get('/v1/job/render/summary')).Children).toEqual({
      Pending: 0,
      Running: 0,
      Dead: 1,
    }),
  );
  const refused = await agent.cli('job', 'dispatch', '-meta', 'colour=red', 'render');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('colour');
  const shown = await agent.cli('job', 'status', 'render');
  expect(shown.stdout).toMatch(/Required meta +quality\n[\s\S]*Newest\n[\s\S]*render\/dispatch-/);
});

test.concurrent('a periodic job is launched every second, and by a command', async () => {
  const Periodic = { Specs: ['* * * * * *'], ProhibitOverlap: true };
  const task = shell('echo "$ROSTER_JOB_ID"');
  await agent.register(job('tick', { job: { Type: 'batch', Periodic }, group: once, task }));
  const ids = await agent.until('/v1/jobs?prefix=tick/', (all: readonly { ID: string }[]) => {
    expect(all.length).toBeGreaterThanOrEqual(2);
    return all.map(({ ID }) => ID);
  });
  expect(await outputOf(ids[0]!)).toBe(`${ids[0]}\n`);
  expect(await agent.cli('job', 'periodic', 'force', 'tick')).toMatchObject({ code: 0 });
  await agent.cli('job', 'stop', 'tick');
});
