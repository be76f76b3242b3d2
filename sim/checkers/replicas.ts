import type { Change, Snapshot } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import { compare } from './acknowledged.ts';
import type { Checker, Fault } from './checker.ts';
import { differenceOfLeap } from './leaps.ts';
import { haveSameText } from './same-text.ts';

/** Number of commits that a server may lag behind the log. */
const commitsKept = 20_000;

/**
 * Each of several servers applies exactly the commits of the log. A server that was away until the log was cut applies
 * a snapshot instead: a single commit with all rows that differ.
 */
export const everyServerShowsTheLog = (): Checker & {
  /** Called when a server has loaded the log up to the index. */
  readonly joined: (server: number, index: number) => void;
  /** Called when a server has applied a commit. */
  readonly heard: (server: number, changes: readonly Change[], index: number, fault: Fault) => void;
  /** Called at rest with the newest view of a server. */
  readonly shows: (server: number, view: Snapshot, account: Account, fault: Fault) => void;
} => {
  const commits = new Map<number, readonly Change[]>();
  /** Index of the last commit that each server has applied. */
  const reached = new Map<number, number>();
  return {
    guarantee: 'every server agrees with the log',
    committed(changes, index) {
      commits.set(index, changes);
      commits.delete(index - commitsKept);
    },
    restored(changes, index) {
      commits.set(index, changes);
    },
    joined(server, index) {
      reached.set(server, index);
    },
    heard(server, changes, index, fault) {
      const expected = commits.get(index);
      const last = reached.get(server) ?? 0;
      reached.set(server, index);
      if (expected === undefined) {
        fault(`server ${server} applied commit ${index}, which is not in the log`);
      } else if (index > last + 1) {
        const leapt = Array.from({ length: index - last }, (_, step) => last + 1 + step);
        const missed = leapt.map((one) => commits.get(one) ?? []);
        const difference = differenceOfLeap(missed, changes);
        if (difference !== undefined) fault(`server ${server} leapt to ${index}: ${difference}`);
      } else if (!areSame(expected, changes)) {
        fault(`server ${server} applied other changes at ${index} than the log has`);
      }
    },
    shows(server, view, account, fault) {
      compare(
        account,
        view,
        () => true,
        (sentence) => fault(`server ${server}: ${sentence}`),
      );
    },
  };
};

/** A row before a change was compared when an earlier commit wrote it, so only its index is compared again. */
const areSame = (expected: readonly Change[], changes: readonly Change[]): boolean =>
  expected.length === changes.length &&
  expected.every(({ table, before, after }, place) => {
    const change = changes[place]!;
    return (
      table === change.table &&
      before?.ModifyIndex === change.before?.ModifyIndex &&
      haveSameText(after ?? before, change.after ?? change.before)
    );
  });
