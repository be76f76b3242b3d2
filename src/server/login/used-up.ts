import type { Clock } from '../../base/ports.ts';
import type { SecretBox } from '../../base/secret-box.ts';
import { limits } from '../../model/limits.ts';
import type { LoginLimitKind } from '../../model/login/login.ts';
import { FormUnfinished } from '../../state/errors.ts';
import { usedUpLimits } from '../../state/tables.ts';
import type { State } from '../../state/types.ts';
import { makeRoom } from '../expiring-rows.ts';

/** Attempts that are there at first, and the time in which one comes back. */
export interface AttemptBounds {
  readonly burst: number;
  readonly refillMs: number;
}

export interface UsedUpOptions {
  readonly state: State;
  readonly box: SecretBox;
  readonly clock: Clock;
}

/**
 * Limits of logins that are used up, as rows of the state. The attempts themselves are counted in the memory of the
 * leader, since anybody can make them, and a row for each would let anybody fill the log. A row is written only when
 * a limit refuses, and then not again until half of the attempts would be back. So there is a row for `burst / 2`
 * failures at most, and a leader that takes over grants at most so many attempts more than the leader before it
 * would have.
 */
export class UsedUpLimits {
  readonly #options: UsedUpOptions;

  constructor(options: UsedUpOptions) {
    this.#options = options;
  }

  /** The attempts that are back since the limit was used up; `undefined`: nothing is noted. */
  leftOf(kind: LoginLimitKind, name: string, { refillMs }: AttemptBounds): number | undefined {
    const { state, box, clock } = this.#options;
    const table = state.head().table(usedUpLimits);
    if (table.size === 0) return undefined;
    const row = table.get(kind, box.fingerprint(name));
    return row && Math.max(0, (clock.nowMs() - row.AtMs) / refillMs);
  }

  /** Notes that no attempt is left. Resolves when the note, if it is needed, is durable. */
  async note(kind: LoginLimitKind, name: string, bounds: AttemptBounds): Promise<void> {
    const { state, box, clock } = this.#options;
    const { burst, refillMs } = bounds;
    const left = this.leftOf(kind, name, bounds) ?? burst;
    if (left < burst / 2) return;
    const nowMs = clock.nowMs();
    const { usedUpMax: rowsMax, removedAtOnceMax: removedMax } = limits.aclLogin;
    try {
      await state.write((transaction) => {
        makeRoom(transaction, usedUpLimits, { nowMs, rowsMax, removedMax });
        transaction.table(usedUpLimits).put({
          Kind: kind,
          Name: box.fingerprint(name),
          AtMs: nowMs,
          ExpireMs: nowMs + burst * refillMs,
        });
      });
    } catch (error) {
      // The next leader may be a server that does not know such rows yet.
      if (!(error instanceof FormUnfinished)) throw error;
    }
  }
}
