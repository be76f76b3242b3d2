/** Runs an attempt on a node, and finds out its outcome. */
import { spawnSync } from 'node:child_process';
import { eventually } from '../support/agent.ts';
import type { Allocation } from '../support/jobs.ts';
import { type Attempt, type Hand, type Opening, type Plan, success, tried } from './attempt.ts';
import type { Camp } from './camp.ts';
import { noAnswer } from './people.ts';

export interface Outcome {
  /** The attempt has reached its aim. */
  readonly succeeded: boolean;
  /** The server's refusal of the job, or the node's refusal of the task. */
  readonly refusal: string;
  /** All that the adversary has learned. */
  readonly output: string;
  /** Its job did not stop when asked to, or its log could not be read. */
  readonly isStuck: boolean;
}

const nowhere = 'it was placed nowhere';
const stopPatienceMs = 15_000;
let count = 0;

/** An opening has neither refusal nor counter-proof. */
type Tried = Opening & Partial<Pick<Attempt, 'refusal'>>;

export async function runAttempt(camp: Camp, node: string, attempt: Tried): Promise<Outcome> {
  const name = `attempt-${++count}`;
  const left = attempt.hasLeft === true ? await camp.leaveFiles(node) : undefined;
  const { prey, secrets } = camp.prey(node, name, left);
  const plan = attempt.plan(prey);
  const { red } = camp;
  const { status, text } = await red.register(camp.job(name, node, plan));
  const has = (output: string): boolean =>
    output.includes(success) || secrets.some((secret) => output.includes(secret));
  if (status !== 200) {
    return { succeeded: false, refusal: text, output: '', isStuck: false };
  }
  const id = plan.payload === undefined ? name : await dispatch(camp, name, plan.payload);
  if (attempt.refusal !== undefined && !(await red.isPlaced(id))) {
    await red.ask('DELETE', `/v1/job/${id}`);
    return { succeeded: false, refusal: nowhere, output: '', isStuck: false };
  }
  const { refusal, output } = await play(camp, { id, node }, plan);
  await red.ask('DELETE', `/v1/job/${id}`);
  const hasEnded = (await red.ended(id, stopPatienceMs)) !== undefined;
  // A job that was never placed has no end to wait for.
  const isStuck = (!hasEnded && refusal !== nowhere) || output.includes(noAnswer);
  const hasHappened = plan.hasHappened?.() ?? false;
  const hasHeldUp = attempt.holdsUp === true && isStuck;
  return { succeeded: has(output) || hasHappened || hasHeldUp, refusal, output, isStuck };
}

/** Dispatches a job, and returns the id of the child. */
async function dispatch({ red }: Camp, id: string, payload: string): Promise<string> {
  const Payload = Buffer.from(payload).toString('base64');
  const { text } = await red.ask('PUT', `/v1/job/${id}/dispatch`, { Payload });
  return JSON.parse(text).DispatchedJobID;
}

async function play(camp: Camp, { id, node }: { id: string; node: string }, plan: Plan) {
  const { red } = camp;
  let heard = '';
  if (plan.besides !== undefined || plan.next !== undefined) {
    const begun = await readiness(camp, id);
    if (begun !== undefined) {
      if (plan.besides !== undefined) {
        heard = `${tried}\n${await plan.besides(handOf(camp, id, begun))}`;
      }
      // The next version reports itself that it has run.
      if (plan.next !== undefined) await goOn(camp, { id, node, begun }, plan);
    }
  } else {
    await red.ended(id);
  }
  const allocation = await red.allocation(id);
  if (allocation === undefined) return { refusal: nowhere, output: heard };
  const output = heard + (await red.output(allocation.ID, nameOfTask(plan)));
  return { refusal: tellingsOf(allocation), output };
}

/** Resolves when the next allocation has ended. */
async function goOn(
  camp: Camp,
  { id, node, begun }: { readonly id: string; readonly node: string; readonly begun: string },
  plan: Plan,
): Promise<void> {
  const { script, isElsewhere } = plan.next!;
  const on = isElsewhere ? camp.otherNode(node) : node;
  await camp.red.register(camp.job(id, on, { ...plan, script }));
  await eventually(async () => {
    const { ID } = (await camp.red.allocation(id))!;
    if (ID === begun) throw new Error(`${id} has no next allocation yet`);
  });
  await camp.red.ended(id);
}

/** The allocation's id once it is known to run and its script is ready; `undefined` if it has ended before. */
function readiness({ red }: Camp, id: string): Promise<string | undefined> {
  return eventually(async () => {
    const found = await red.allocation(id);
    if (['complete', 'failed'].includes(found?.ClientStatus ?? '')) return undefined;
    if (found?.ClientStatus !== 'running') throw new Error(`${id} is not known to run`);
    const path = `/v1/client/fs/stat/${found.ID}?path=alloc/tmp/ready`;
    const { status, text } = await red.ask('GET', path);
    if (status !== 200) throw new Error(`${id} is not ready: ${text}`);
    return found.ID;
  });
}

const handOf = ({ red }: Camp, jobId: string, allocId: string): Hand => ({
  allocId,
  ask: (method, path, body) =>
    red.ask(method, path, body, 5000).then(
      ({ text }) => text,
      (error: Error) => error.message,
    ),
  run: (command) =>
    typeof command === 'string'
      ? red.session(`/v1/job/${jobId}/action`, { action: command, alloc_id: allocId, task: 'task' })
      : red.session(`/v1/client/allocation/${allocId}/exec`, {
          task: 'task',
          command: JSON.stringify(command),
        }),
});

const nameOfTask = ({ task }: Plan): string =>
  (task as { Name?: string } | undefined)?.Name ?? 'task';

const tellingsOf = ({ TaskStates }: Allocation): string =>
  Object.values(TaskStates ?? {})
    .flatMap(({ Events }) => Events)
    .map(({ DisplayMessage }) => DisplayMessage)
    .join('\n');

/** Runs the script as a program of the agent's user, without a sandbox. */
export function runOutside(camp: Camp, node: string, attempt: Attempt): Outcome {
  const { prey, secrets } = camp.prey(node, 'outside');
  const { script, hasHappened } = attempt.plan(prey);
  const [program = '', ...words] = [...camp.asAgent, '/bin/sh', '-c', script];
  const { stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', cwd: '/' });
  const output = stdout + stderr;
  const has = output.includes(success) || secrets.some((secret) => output.includes(secret));
  return { succeeded: has || (hasHappened?.() ?? false), refusal: '', output, isStuck: false };
}
