import type { Deployment } from '../../src/model/deployment/deployment.ts';
import type { Job } from '../../src/model/job/job.ts';
import { deployments, inNamespace, jobs, jobVersions, numberPart } from '../../src/state/tables.ts';
import type { Change } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import type { Checker, Fault } from './checker.ts';

/**
 * A failed deployment with `AutoRevert` reverts the job to the newest stable version before its own, and the
 * job then equals that version.
 */
export const autoRevertLandsOnStable = (): Checker => {
  /** The stable versions of each registration of a job. */
  const stable = new Map<string, Set<number>>();
  const keyOf = (namespace: string, id: string, createIndex: number): string =>
    `${namespace} ${id} ${createIndex}`;
  const note = ({ Namespace, ID, CreateIndex, Version, Stable, Stop }: Job): void => {
    const key = keyOf(Namespace, ID, CreateIndex);
    const versions = stable.get(key) ?? new Set();
    stable.set(key, versions);
    if (Stable && !Stop) versions.add(Version);
    else versions.delete(Version);
  };
  return {
    guarantee: 'auto-revert goes to the newest stable version',
    /** Versions that came after the snapshot are gone, and their numbers are given out again. */
    restored(_changes, _index, { account }) {
      stable.clear();
      for (const version of account.rows(jobVersions).values()) note(version);
    },
    resumed({ account }) {
      for (const version of account.rows(jobVersions).values()) note(version);
    },
    committed(changes, _index, { account }, fault) {
      for (const change of changes) {
        if (!isFailure(change)) continue;
        const deployment = change.after as Deployment;
        const { Namespace, JobID, JobCreateIndex, JobVersion } = deployment;
        const known = stable.get(keyOf(Namespace, JobID, JobCreateIndex)) ?? [];
        const expected = Math.max(...[...known].filter((version) => version < JobVersion));
        checkRevert(deployment, expected, account, fault);
      }
      for (const { table, after } of changes) {
        if (table === jobVersions.name && after !== undefined) note(after as Job);
      }
    },
  };
};

const isFailure = ({ table, before, after }: Change): boolean =>
  table === deployments.name &&
  (after as Deployment | undefined)?.Status === 'failed' &&
  (before as Deployment | undefined)?.Status !== 'failed';

/** @param expected newest stable version; -Infinity if there is none */
function checkRevert(
  deployment: Deployment,
  expected: number,
  account: Account,
  fault: Fault,
): void {
  const { StatusDescription, JobID, Namespace, JobVersion } = deployment;
  const [, text] = / - rolling back to job version (\d+)$/.exec(StatusDescription) ?? [];
  const wants = Object.values(deployment.TaskGroups).every(({ AutoRevert }) => AutoRevert);
  const versionOf = (version: number) =>
    account.get(jobVersions, ...inNamespace(Namespace, JobID, numberPart(version)));
  if (text === undefined) {
    const target = Number.isFinite(expected) ? versionOf(expected) : undefined;
    const failed = versionOf(JobVersion);
    if (!wants || target === undefined || failed === undefined) return;
    // A job that was changed or stopped since is not reverted.
    const now = account.get(jobs, ...inNamespace(Namespace, JobID));
    if (now === undefined || now.Stop || now.Version !== JobVersion) return;
    if (wishOf(target) !== wishOf(failed)) {
      fault(`${JobID} did not revert to version ${expected}: ${StatusDescription}`);
    }
    return;
  }
  const went = Number(text);
  if (went !== expected) {
    fault(`${JobID} reverted to version ${went}, the newest stable version is ${expected}`);
    return;
  }
  const now = account.get(jobs, ...inNamespace(Namespace, JobID));
  const target = versionOf(went);
  if (now === undefined || target === undefined || wishOf(now) !== wishOf(target)) {
    fault(`${JobID} reverted to version ${went}, but differs from it`);
  }
}

/** The fields of a job that users submit. */
const wishOf = ({ Type, Priority, Datacenters, NodePool, TaskGroups, Constraints }: Job): string =>
  JSON.stringify({ Type, Priority, Datacenters, NodePool, TaskGroups, Constraints });
