import type { Change, Snapshot } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import { compare } from './acknowledged.ts';
import type { Checker, Fault } from './checker.ts';

/** A server that hears of a commit so much later is not looked at. */
const commitsKept = 20_000;

/** Where there are several servers: each hears of every commit once, in order, as the log has it. */
export const everyServerShowsTheLog = (): Checker & {
  /** A server, which was opened at some index, heard of a commit. */
  readonly heard: (server: number, changes: readonly Change[], index: number, fault: Fault) => void;
  /** Everything has come to rest: the server's newest view. */
  readonly shows: (server: number, view: Snapshot, account: Account, fault: Fault) => void;
} => {
  const told = new Map<number, string>();
  return {
    guarantee: 'every server shows the log',
    committed(changes, index) {
      told.set(index, fingerprint(changes));
      told.delete(index - commitsKept);
    },
    heard(server, changes, index, fault) {
      const expected = told.get(index);
      if (expected === undefined)
        fault(`server ${server} heard of ${index}, which is not in the log`);
      else if (expected !== fingerprint(changes)) {
        fault(`server ${server} heard of ${index} something else than the log has`);
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
