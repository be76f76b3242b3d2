import type { AllocationStub } from '../../model/allocation/allocation-stub.ts';
import type { JobAction } from '../../model/job/job-action.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError } from '../errors.ts';
import {
  joinSession,
  sessionDetails,
  sessionErrorExitCode,
  sessionOptions,
  sessionWish,
} from '../exec/session.ts';
import { resolveAllocation, withJob } from '../nouns.ts';
import type { Options } from '../options.ts';
import { oneLine } from '../render/text.ts';

export const jobAction: ClientCommand = {
  words: ['job', 'action'],
  summary: "Run an action of a job's task.",
  definition: {
    arguments: [
      { name: 'ACTION', kind: 'word', isRequired: true, description: 'The name of the action.' },
    ],
    options: [
      { name: 'job', value: 'JOB', description: 'Id of the job.' },
      {
        name: 'alloc',
        value: 'ALLOC',
        description: 'The allocation; by default the newest that runs the task.',
      },
      { name: 'group', value: 'GROUP', description: 'The group, if several have the action.' },
      { name: 'task', value: 'TASK', description: 'The task, if several have the action.' },
      ...sessionOptions,
    ],
    errorExitCode: sessionErrorExitCode,
    details: `${sessionDetails}

Example:
  roster job action -job web flush-cache`,
  },
  async run(context, [name], options) {
    const job = options.text('job');
    if (job === undefined) throw new CliError('Name the job with -job JOB.');
    const wish = sessionWish(options, context.environment);
    const chosen = await chooseAction(context, job, name!, options);
    const request = { job, action: name!, ...chosen, tty: wish.tty };
    return joinSession(context, wish, (signal) =>
      context.client.exec.action({ ...request, signal }),
    );
  },
};

async function chooseAction(context: Context, job: string, name: string, options: Options) {
  const { client } = context;
  const { value: known } = await withJob(context, job, () => client.jobs.actions(job));
  const given = options.text('alloc');
  const named = given === undefined ? undefined : await resolveAllocation(context, given);
  const group =
    named === undefined
      ? options.text('group')
      : (await client.allocations.read(named)).value.TaskGroup;
  const action = oneAction(known, { job, name, group, task: options.text('task') });
  const { TaskName: task, TaskGroupName } = action;
  if (named !== undefined) return { task, allocation: named };
  const { value: allocations } = await client.jobs.allocations(job);
  const running = allocations
    .filter((one) => one.TaskGroup === TaskGroupName && runs(one, task))
    .sort((left, right) => right.CreateIndex - left.CreateIndex);
  if (running[0] === undefined) {
    throw new CliError(`No allocation of the job "${oneLine(job)}" runs the task "${task}".`, {
      hint: `See "roster job status ${oneLine(job)}".`,
    });
  }
  return { task, allocation: running[0].ID };
}

const runs = ({ ClientStatus, TaskStates }: AllocationStub, task: string): boolean =>
  ClientStatus === 'running' && TaskStates?.[task]?.State === 'running';

/** @throws CliError if no task has the action, or several do */
function oneAction(
  known: readonly JobAction[],
  wanted: {
    readonly job: string;
    readonly name: string;
    readonly group: string | undefined;
    readonly task: string | undefined;
  },
): JobAction {
  const { job, name, group, task } = wanted;
  const fitting = known.filter(
    ({ Name, TaskGroupName, TaskName }) =>
      Name === name &&
      (group === undefined || TaskGroupName === group) &&
      (task === undefined || TaskName === task),
  );
  if (fitting.length === 1) return fitting[0]!;
  const list = (actions: readonly JobAction[]) =>
    actions.map(({ Name, TaskGroupName, TaskName }) => `${TaskGroupName}/${TaskName}: ${Name}`);
  if (fitting.length > 1) {
    throw new CliError(`Several tasks have an action "${oneLine(name)}":`, {
      faults: list(fitting).map(oneLine),
      hint: 'Say which one with -group and -task.',
    });
  }
  throw new CliError(`The job "${oneLine(job)}" has no such action "${oneLine(name)}".`, {
    faults: list(known).map(oneLine),
    hint: `"roster job actions ${oneLine(job)}" lists those that there are.`,
  });
}
