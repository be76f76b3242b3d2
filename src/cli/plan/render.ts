import type { ShownPlan } from '../../sdk/client.ts';
import type { Context } from '../context.ts';

import { printJobDiff } from '../render/job-diff.ts';
import { printPlacementFailures } from '../render/placement.ts';
import { oneLine, orDash, plural } from '../render/text.ts';

/** The number of rows of a table without `-verbose`. */
const rowsShown = 20;

/** Prints a plan that was just made, and how it is carried out. */
export const showMade = (context: Context, plan: ShownPlan): Promise<number> =>
  context.show(plan, async () => {
    await printPlan(context, plan);
    await printNext(context, plan);
  });

export async function printPlan(context: Context, plan: ShownPlan): Promise<void> {
  const { screen, isVerbose } = context;
  await screen.line(screen.colors.bold(`Plan: ${oneLine(plan.Summary)}`));
  if (plan.Diff !== null) {
    await screen.line();
    await printJobDiff(screen, plan.Diff, { isVerbose });
  } else await printDifferences(context, plan);
  await printChanges(context, plan);
  await printRouting(context, plan);
  if (plan.FailedTGAllocs !== null) {
    await screen.line();
    await printPlacementFailures(screen, plan.FailedTGAllocs);
  }
  for (const deployment of plan.Deployments) await screen.line(`- ${oneLine(deployment)}`);
  for (const warning of plan.Warnings) await screen.line(`Warning: ${oneLine(warning)}`);
}

async function printDifferences(context: Context, { Differences }: ShownPlan): Promise<void> {
  if (Differences.length === 0) return;
  const { screen } = context;
  await screen.title('What differs');
  await printRows(context, ['Record', 'Field', 'Old', 'New'], Differences, (one) => [
    oneLine(one.Of),
    orDash(one.Path),
    orDash(one.Old),
    orDash(one.New),
  ]);
}

async function printChanges(context: Context, plan: ShownPlan): Promise<void> {
  const { Changes, ChangesHidden } = plan;
  if (Changes.length === 0 && ChangesHidden === 0) return;
  const { screen, id } = context;
  await screen.title('What is done');
  const titles = ['When', 'Action', 'Name', 'Node', 'Allocation', 'Why'];
  await printRows(context, titles, Changes, (one) => [
    one.Wave === 0 ? 'at once' : `round ${one.Wave}`,
    one.Canary ? 'place canary' : one.Action,
    oneLine(one.Name),
    orDash(one.NodeName),
    one.AllocID === '' ? '-' : id(one.AllocID),
    orDash(one.Why),
  ]);
  if (ChangesHidden > 0) await screen.line(`… and ${plural(ChangesHidden, 'change')} not told.`);
  if (Changes.some(({ Forecast }) => Forecast)) {
    await screen.line('Rounds are a forecast: they are decided when it is time.');
  }
}

async function printRouting(context: Context, { Chains, Intentions }: ShownPlan): Promise<void> {
  const { screen } = context;
  if (Chains.length > 0) {
    await screen.title('Discovery chains that change');
    await printRows(context, ['Service', 'Before', 'After'], Chains, (one) => [
      oneLine(one.Service),
      chainText(one.Before, one.RefusedBefore),
      chainText(one.After, one.RefusedAfter),
    ]);
  }
  if (Intentions.length > 0) {
    await screen.title('Intentions that change');
    await printRows(context, ['Source', 'Destination', 'Before', 'After'], Intentions, (one) => [
      oneLine(one.Source),
      oneLine(one.Destination),
      orDash(one.Before),
      orDash(one.After),
    ]);
  }
}

/** The protocol and the targets of a chain. */
function chainText(chain: object | null, refused: string): string {
  if (chain === null) return refused === '' ? '-' : oneLine(refused);
  const { Protocol, Targets } = chain as {
    readonly Protocol?: string;
    readonly Targets?: object;
  };
  return oneLine(`${Protocol} to ${Object.keys(Targets ?? {}).join(', ')}`);
}

async function printRows<T>(
  { screen, isVerbose }: Context,
  titles: readonly string[],
  all: readonly T[],
  cells: (one: T) => string[],
): Promise<void> {
  const rows = isVerbose ? all : all.slice(0, rowsShown);
  await screen.table([...titles], rows.map(cells));
  const more = all.length - rows.length;
  if (more > 0) await screen.line(`… and ${more} more: -verbose shows all.`);
}

async function printNext({ screen }: Context, { ID, ExpiresAt }: ShownPlan): Promise<void> {
  await screen.line();
  await screen.fields([
    ['Plan ID', ID === '' ? '-' : ID],
    ['Expires', ID === '' ? '-' : ExpiresAt],
  ]);
  if (ID === '') return;
  await screen.line();
  await screen.line('To have just this plan carried out, or nothing:');
  await screen.line(`  roster plan apply ${ID}`);
}
