/** An attempt on a node, and what came of it. */
import { spawnSync } from 'node:child_process';
import type { Allocation } from '../e2e/jobs.ts';
import { eventually } from '../support/agent.ts';
import { type Attempt, type Hand, type Plan, success, tried } from './attempt.ts';
import type { Camp } from './camp.ts';
import { noAnswer } from './people.ts';

export interface Outcome {
  /** It has what it wanted. */
  readonly succeeded: boolean;
  /** What the server said to the job, or the node to the task. */
  readonly refusal: string;
  /** All that the adversary was told. */
  readonly output: string;
  /** Its job was asked to stop and did not, or its log to be read and was not. */
  readonly isStuck: boolean;
}

const stopPatienceMs = 15_000;
let count = 0;

export async function runAttempt(camp: Camp, node: string, attempt: Attempt): Promise<Outcome> {
  const { prey, secrets } = camp.prey(node);
  const plan = attempt.plan(prey);
  const { red } = camp;
  const id = `attempt-${++count}`;
  const { status, text } = await red.register(camp.job(id, node, plan));
  const has = (output: string): boolean =>
    output.includes(success) || secrets.some((secret) => output.includes(secret));
  if (status !== 200) {
    return { succeeded: false, refusal: text, output: '', isStuck: false };
  }
  if (attempt.refusal !== undefined && !(await red.isPlaced(id))) {
    await red.ask('DELETE', `/v1/job/${id}`);
    return { succeeded: false, refusal: 'it was placed nowhere', output: '', isStuck: false };
  }
  const { refusal, output } = await play(camp, id, plan);
  await red.ask('DELETE', `/v1/job/${id}`);
  const hasEnded = (await red.ended(id, stopPatienceMs)) !== undefined;
  const isStuck = !hasEnded || output.includes(noAnswer);
  const hasHappened = plan.hasHappened?.() ?? false;
  return { succeeded: has(output) || hasHappened || isStuck, refusal, output, isStuck };
}

async function play(camp: Camp, id: string, plan: Plan) {
  const { red } = camp;
  let heard = '';
  if (plan.besides !== undefined) {
    const begun = await readiness(camp, id);
    if (begun !== undefined) heard = `${tried}\n${await plan.besides(handOf(camp, begun))}`;
  } else {
    await red.ended(id);
  }
  const allocation = await red.allocation(id);
  if (allocation === undefined) return { refusal: 'it was placed nowhere', output: heard };
  const output = heard + (await red.output(allocation.ID));
  return { refusal: tellingsOf(allocation), output };
}

/** The allocation's id once its script is ready; `undefined` where it has ended before. */
function readiness({ red }: Camp, id: string): Promise<string | undefined> {
  return eventually(async () => {
    const found = await red.allocation(id);
    if (['complete', 'failed'].includes(found?.ClientStatus ?? '')) return undefined;
    const path = `/v1/client/fs/stat/${found?.ID}?path=alloc/data/ready`;
    const { status, text } = await red.ask('GET', path);
    if (status !== 200) throw new Error(`${id} is not ready: ${text}`);
    return found!.ID;
  });
}

const handOf = ({ red }: Camp, allocId: string): Hand => ({
  allocId,
  ask: (method, path, body) =>
    red.ask(method, path, body, 5000).then(
      ({ text }) => text,
      (error: Error) => error.message,
    ),
});

const tellingsOf = ({ TaskStates }: Allocation): string =>
  Object.values(TaskStates ?? {})
    .flatMap(({ Events }) => Events)
    .map(({ DisplayMessage }) => DisplayMessage)
    .join('\n');

/** What the script does as a program of the agent's user, on the machine as it is. */
export function runOutside(camp: Camp, node: string, attempt: Attempt): Outcome {
  const { prey, secrets } = camp.prey(node);
  const { script, hasHappened } = attempt.plan(prey);
  const [program = '', ...words] = [...camp.asAgent, '/bin/sh', '-c', script];
  const { stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', cwd: '/' });
  const output = stdout + stderr;
  const has = output.includes(success) || secrets.some((secret) => output.includes(secret));
  return { succeeded: has || (hasHappened?.() ?? false), refusal: '', output, isStuck: false };
}
