import { type Deployment, isTerminalDeployment } from '../../model/deployment/deployment.ts';
import { awaitsPromotion } from '../../model/deployment/descriptions.ts';
import { waitFor } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../errors.ts';
import type { Screen } from '../render/screen.ts';
import { oneLine } from '../render/text.ts';
import { groupProgress } from './render.ts';

/**
 * Watches a deployment to its end. `screen` gets a line for each change.
 * Resolves with the ended deployment.
 */
export function monitorDeployment(
  context: Context,
  id: string,
  screen: Screen,
  signal: AbortSignal,
): Promise<Deployment> {
  const told = new Map<string, string>();
  const tell = (about: string, text: string) => {
    if (told.get(about) === text) return;
    told.set(about, text);
    void screen.line(text);
  };
  const look = (deployment: Deployment): boolean => {
    tell('status', statusLine(context, deployment, screen));
    for (const [name, group] of Object.entries(deployment.TaskGroups)) {
      tell(`group ${name}`, `  ${groupProgress(name, group)}`);
    }
    if (needsSomebody(deployment)) tell('promotion', promotionHint(context, deployment));
    return isTerminalDeployment(deployment);
  };
  return waitFor((options) => context.client.deployments.read(id, options), look, { signal });
}

const statusLine = ({ id }: Context, deployment: Deployment, screen: Screen): string => {
  const { ID, JobVersion, Status, StatusDescription } = deployment;
  const text = `Deployment ${id(ID)} of version ${JobVersion} is ${screen.status(Status)}`;
  return `${text}: ${oneLine(StatusDescription)}`;
};

/** Whether every canary is healthy, and the promotion is manual. */
const needsSomebody = ({ Status, TaskGroups }: Deployment): boolean => {
  const waiting = Object.values(TaskGroups).filter(awaitsPromotion);
  return (
    Status === 'running' &&
    waiting.length > 0 &&
    waiting.some(({ AutoPromote }) => !AutoPromote) &&
    waiting.every((group) => group.HealthyAllocs >= group.DesiredCanaries)
  );
};

const promotionHint = ({ id }: Context, { ID }: Deployment): string =>
  `Its canaries are healthy: "roster deployment promote ${id(ID)}" puts the rest in their place.`;

/** The exit code for the outcome of a deployment. */
export const exitCodeOf = ({ Status }: Pick<Deployment, 'Status'>): number => {
  if (Status === 'successful') return exitCodes.ok;
  return Status === 'failed' ? exitCodes.placementFailed : exitCodes.error;
};
