import type { DeploymentChanged } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import {
  type ArgumentDefinition,
  type ClientCommand,
  type CommandHeading,
  detach,
  verbose,
} from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { waitForEvaluation } from '../monitor.ts';
import { resolveDeployment } from '../nouns.ts';
import type { Options } from '../options.ts';
import { printPlacementFailures } from '../render/placement.ts';

export const deploymentArgument: ArgumentDefinition = {
  name: 'DEPLOYMENT',
  kind: 'deployment',
  isRequired: true,
  description: 'Id of the deployment, or 8 or more characters of it.',
};

interface Outcome {
  readonly id: string;
  /** `is paused` */
  readonly done: string;
  readonly changed: DeploymentChanged;
}

/** Prints the outcome of an action, and waits for the resulting evaluation. */
export async function printChange(
  context: Context,
  { id, done, changed }: Outcome,
  options: Options,
): Promise<number> {
  const log = context.isJson ? context.notes : context.screen;
  await log.line(`Deployment ${context.id(id)} ${done}.`);
  const { RevertedJobVersion: version, EvalID } = changed;
  if (version !== null) await log.line(`The job goes back to what version ${version} was.`);
  const isWatched = EvalID !== '' && !options.flag('detach');
  const failures = isWatched ? await failuresOf(context, EvalID) : null;
  if (context.isJson) await context.json(changed);
  await printPlacementFailures(log, failures);
  if (!context.isJson) {
    await log.line(`See "roster deployment status -monitor ${context.id(id)}".`);
  }
  return Object.keys(failures ?? {}).length === 0 ? exitCodes.ok : exitCodes.placementFailed;
}

async function failuresOf(context: Context, evaluationId: string) {
  const log = context.isJson ? context.notes : context.screen;
  const evaluation = await context.untilInterrupted((signal) =>
    waitForEvaluation(context, evaluationId, log, signal),
  );
  return evaluation.FailedTGAllocs;
}

interface Action extends CommandHeading {
  /** `is paused` */
  readonly done: string;
  readonly act: (context: Context, id: string) => Promise<{ readonly value: DeploymentChanged }>;
  readonly details: string;
}

/** A command with a single action on a deployment. */
const action = ({ words, summary, done, act, details }: Action): ClientCommand => ({
  words,
  summary,
  definition: { arguments: [deploymentArgument], options: [detach, verbose], details },
  async run(context, [given], options) {
    const id = await resolveDeployment(context, given!);
    const { value: changed } = await act(context, id);
    return printChange(context, { id, done, changed }, options);
  },
});

export const deploymentFail = action({
  words: ['deployment', 'fail'],
  summary: 'Fail a deployment.',
  done: 'is marked as failed',
  act: ({ client }, id) => client.deployments.fail(id),
  details: 'If a group has AutoRevert, the job goes back to its last stable version.',
});

export const deploymentPause = action({
  words: ['deployment', 'pause'],
  summary: 'Pause a deployment.',
  done: 'is paused',
  act: ({ client }, id) => client.deployments.pause(id),
  details: 'Starts no more instances until it is resumed. Lost allocations are still replaced.',
});

export const deploymentResume = action({
  words: ['deployment', 'resume'],
  summary: 'Resume a paused deployment.',
  done: 'goes on',
  act: ({ client }, id) => client.deployments.resume(id),
  details: 'Its progress deadline starts again.',
});

export const deploymentUnblock = action({
  words: ['deployment', 'unblock'],
  summary: 'End a deployment that waits for other regions.',
  done: 'no longer waits for other regions',
  act: ({ client }, id) => client.deployments.unblock(id),
  details: 'Only for a blocked deployment of a job in several regions.',
});
