import { type Deployment, isTerminalDeployment } from '../../model/deployment/deployment.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { resolveDeployment } from '../nouns.ts';
import { exitCodeOf, monitorDeployment } from './monitor.ts';
import { printDeployment, printMembers } from './render.ts';

export const deploymentStatus: ClientCommand = {
  words: ['deployment', 'status'],
  summary: 'Show the progress of a deployment, and watch it.',
  definition: {
    arguments: [
      {
        name: 'DEPLOYMENT',
        kind: 'deployment',
        isRequired: true,
        description: 'Id of the deployment, or 8 or more characters of it.',
      },
    ],
    options: [{ name: 'monitor', description: 'Watch it to its end, then show it.' }, verbose],
    details: 'Exit codes with -monitor: 0 it was successful, 1 it was cancelled, 2 it failed.',
  },
  async run(context, [given], options) {
    const id = await resolveDeployment(context, given!);
    if (!options.flag('monitor')) {
      const { value } = await context.client.deployments.read(id);
      await show(context, value);
      return exitCodes.ok;
    }
    const { value: before } = await context.client.deployments.read(id);
    const log = context.isJson ? context.notes : context.screen;
    const after = isTerminalDeployment(before)
      ? before
      : await context.untilInterrupted((signal) => monitorDeployment(context, id, log, signal));
    if (after !== before && !context.isJson) await log.line();
    await show(context, after);
    return exitCodeOf(after);
  },
};

async function show(context: Context, deployment: Deployment): Promise<void> {
  const { value: allocations } = await context.client.deployments.allocations(deployment.ID);
  if (context.isJson) {
    await context.json({ Deployment: deployment, Allocations: allocations });
    return;
  }
  await printDeployment(context, deployment);
  await printMembers(context, allocations);
}
