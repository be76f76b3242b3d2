import type { Change, Snapshot } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import { compare } from './acknowledged.ts';
import type { Checker, Fault } from './checker.ts';

/** Number of commits that a server may lag behind the log. */
const commitsKept = 20_000;

/** Each of several servers applies exactly the commits of the log. */
export const everyServerShowsTheLog = (): Checker & {
  /** Called when a server has applied a commit. */
  readonly heard: (server: number, changes: readonly Change[], index: number, fault: Fault) => void;
  /** Called at rest with the newest view of a server. */
  readonly shows: (server: number, view: Snapshot, account: Account, fault: Fault) => void;
} => {
  const commits = new Map<number, string>();
  return {
    guarantee: 'every server agrees with the log',
    committed(changes, index) {
      commits.set(index, fingerprint(changes));
      commits.delete(index - commitsKept);
    },
    heard(server, changes, index, fault) {
      const expected = commits.get(index);
      if (expected === undefined) {
        fault(`server ${server} applied commit ${index}, which is not in the log`);
      } else if (expected !== fingerprint(changes)) {
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

const fingerprint = (changes: readonly Change[]): string => JSON.stringify(changes);
