import { delay, type Timers } from '../../base/ports.ts';
import { beginProfile, type ProfileKind, ProfileUnderWay } from '../../base/profiler.ts';
import { secondMs } from '../../base/units.ts';
import { refusal } from '../errors.ts';

/** The request for a profile of an agent. Source: docs/operations/diagnosis.md#profiles. */
export interface ProfileRequest {
  readonly kind: ProfileKind;
  readonly seconds: number;
}

/**
 * The profile as JSON. When the signal aborts, it is ended early.
 * @throws RosterError `too-many-profiles`, before it resolves
 */
export async function profile(
  { kind, seconds }: ProfileRequest,
  { timers, signal }: { readonly timers: Timers; readonly signal: AbortSignal },
): Promise<AsyncGenerator<Uint8Array, void>> {
  const running = await beginProfile(kind).catch((error) => {
    throw error instanceof ProfileUnderWay ? refusal('too-many-profiles') : error;
  });
  // It ends also if nobody reads the answer.
  const taken = delay(timers, seconds * secondMs, signal).then(() => running.end());
  taken.catch(() => {});
  return parts(taken);
}

async function* parts(taken: Promise<string>): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(await taken);
}
