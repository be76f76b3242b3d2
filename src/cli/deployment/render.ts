import type { AllocationStub } from '../../model/allocation/allocation-stub.ts';
import type { Deployment, DeploymentGroup } from '../../model/deployment/deployment.ts';
import { awaitsPromotion } from '../../model/deployment/descriptions.ts';
import type { Context } from '../context.ts';
import { type Columns, printTable } from '../list-command.ts';
import { allocationColumns, printAllocationTable } from '../render/allocation-table.ts';
import { ago, oneLine, span } from '../render/text.ts';

export const newestFirst = (left: Deployment, right: Deployment): number =>
  right.CreateIndex - left.CreateIndex;

export const deploymentColumns = ({ namespace }: Context): Columns<Deployment> => ({
  ID: ({ ID }, { id }) => id(ID),
  Job: ({ JobID }) => oneLine(JobID),
  ...(namespace === '*' && { Namespace: ({ Namespace }) => oneLine(Namespace) }),
  Version: ({ JobVersion }) => String(JobVersion),
  Status: ({ Status }, { screen }) => screen.status(Status),
  Created: ({ CreateTime }, { nowMs }) => ago(CreateTime, nowMs),
  What: ({ StatusDescription }) => oneLine(StatusDescription),
});

export const printDeployments = (
  context: Context,
  deployments: readonly Deployment[],
): Promise<void> =>
  printTable(context, [...deployments].sort(newestFirst), deploymentColumns(context));

export async function printDeployment(context: Context, deployment: Deployment): Promise<void> {
  const { screen, nowMs } = context;
  await screen.fields([
    ['ID', deployment.ID],
    ['Job', `${oneLine(deployment.JobID)} (version ${deployment.JobVersion})`],
    ['Namespace', oneLine(deployment.Namespace)],
    ['Status', `${screen.status(deployment.Status)} (${oneLine(deployment.StatusDescription)})`],
    ['Created', ago(deployment.CreateTime, nowMs)],
    ['Changed', ago(deployment.ModifyTime, nowMs)],
  ]);
  await printGroups(context, deployment);
}

/** Prints the progress of each group. */
export async function printGroups(
  { screen, nowMs }: Context,
  { TaskGroups, Status }: Deployment,
): Promise<void> {
  await screen.title('Deployed');
  await screen.table(
    [
      'Group',
      'Canaries',
      'Promoted',
      'Desired',
      'Placed',
      'Healthy',
      'Unhealthy',
      'Reverts',
      'Deadline',
    ],
    Object.entries(TaskGroups).map(([name, group]) => [
      oneLine(name),
      group.DesiredCanaries === 0 ? '-' : canariesOf(group),
      group.DesiredCanaries === 0 ? '-' : yesOrNo(group.Promoted),
      ...[group.DesiredTotal, group.PlacedAllocs, group.HealthyAllocs, group.UnhealthyAllocs].map(
        String,
      ),
      yesOrNo(group.AutoRevert),
      Status === 'running' ? timeLeft(group, nowMs) : '-',
    ]),
  );
}

const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no');

const canariesOf = ({ PlacedCanaries, DesiredCanaries }: DeploymentGroup): string =>
  `${PlacedCanaries?.length ?? 0}/${DesiredCanaries}`;

const timeLeft = ({ RequireProgressBy }: DeploymentGroup, nowMs: number): string =>
  RequireProgressBy === null ? '-' : `${span(Date.parse(RequireProgressBy) - nowMs)} left`;

/** A line of progress: `web: 1 of 3 placed, 1 healthy, 0 unhealthy`. */
export function groupProgress(name: string, group: DeploymentGroup): string {
  const canaries = awaitsPromotion(group)
    ? `${group.PlacedCanaries?.length ?? 0} of ${group.DesiredCanaries} canaries, `
    : '';
  const placed = `${group.PlacedAllocs} of ${group.DesiredTotal} placed`;
  const health = `${group.HealthyAllocs} healthy, ${group.UnhealthyAllocs} unhealthy`;
  return `${oneLine(name)}: ${canaries}${placed}, ${health}`;
}

export async function printMembers(
  context: Context,
  allocations: readonly AllocationStub[],
): Promise<void> {
  if (allocations.length === 0) return;
  await context.screen.title('Allocations');
  const { Changed, ...columns } = allocationColumns;
  await printAllocationTable(context, allocations, {
    ...columns,
    Health: ({ DeploymentStatus }) => healthOf(DeploymentStatus),
    Changed,
  });
}

function healthOf(status: AllocationStub['DeploymentStatus']): string {
  const health = { true: 'healthy', false: 'unhealthy', null: '-' }[
    String(status?.Healthy ?? null)
  ];
  return status?.Canary ? `${health} (canary)` : String(health);
}
