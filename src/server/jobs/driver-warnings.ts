import type { Job } from '../../model/job/job.ts';
import { driverReason, hasDriver } from '../../model/node/drivers.ts';
import { isKnownAlive } from '../../model/node/node.ts';
import { quote } from '../../model/path.ts';
import { nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/**
 * A sentence for each driver of the job that no node has now, with the nodes' own reasons. Without
 * any node, nothing is known of drivers.
 */
export function driverWarnings(view: Snapshot, job: Pick<Job, 'TaskGroups'>): string[] {
  const sentences: string[] = [];
  for (const [driver, { group, task }] of firstUsers(job)) {
    const reasons = new Map<string, number>();
    let [lacking, isThere] = [0, false];
    for (const node of view.table(nodes).scan()) {
      if (!isKnownAlive(node)) continue;
      isThere = hasDriver(node, driver);
      if (isThere) break;
      lacking += 1;
      const reason = driverReason(node, driver);
      if (reason !== '') reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    if (isThere || lacking === 0) continue;
    const user = `Group "${group}", task "${task}"`;
    sentences.push(`${user}: no node has the driver ${quote(driver)}${listed(reasons)}.`);
  }
  return sentences;
}

/** The names of a task and of its group. */
interface User {
  readonly group: string;
  readonly task: string;
}

/** For each driver, the first task that needs it. */
function firstUsers({ TaskGroups }: Pick<Job, 'TaskGroups'>): ReadonlyMap<string, User> {
  const users = new Map<string, User>();
  for (const { Name, Tasks } of TaskGroups) {
    for (const task of Tasks) {
      if (!users.has(task.Driver)) users.set(task.Driver, { group: Name, task: task.Name });
    }
  }
  return users;
}

/** The most frequent reasons first. */
function listed(reasons: ReadonlyMap<string, number>): string {
  if (reasons.size === 0) return '';
  const sorted = [...reasons].sort(([, a], [, b]) => b - a).slice(0, reasonsShown);
  const told = sorted.map(
    ([reason, count]) => `${reason} (${count} ${count === 1 ? 'node' : 'nodes'})`,
  );
  return `: ${told.join('; ')}`;
}

const reasonsShown = 3;
