import type { Session } from 'node:inspector/promises';

/** `cpu`: where time goes, in the form of `.cpuprofile`; `heap`: where memory is allocated, as `.heapprofile`. */
export type ProfileKind = 'cpu' | 'heap';

/** A profile that is taken. */
export interface RunningProfile {
  /** Resolves with the profile, in JSON. */
  end(): Promise<string>;
}

/** Another profile is taken at the moment. */
export class ProfileUnderWay extends Error {
  override readonly name = 'ProfileUnderWay';
}

/** The profiler is that of the thread, and so is this. */
let isTaken = false;

/**
 * Begins a profile of this thread.
 *
 * A heap profile is the sampling one: it names the functions that allocated memory which is still in use at the end, and
 * no object. A heap snapshot would hold every text in memory, so also tokens, keys and variables, and would stop the
 * thread for seconds.
 *
 * Invariants
 *  P1. A single profile is taken at a time, since another would show the costs of the first.
 *  P2. A profile holds names and places of functions, numbers, and no values.
 *
 * @throws ProfileUnderWay
 */
export async function beginProfile(kind: ProfileKind): Promise<RunningProfile> {
  if (isTaken) throw new ProfileUnderWay();
  isTaken = true;
  let session: Session | undefined;
  const release = () => {
    session?.disconnect();
    isTaken = false;
  };
  try {
    // Few agents are ever profiled.
    const { Session } = await import('node:inspector/promises');
    session = new Session();
    session.connect();
    await begin[kind](session);
    const running = session;
    return { end: () => profileOf(kind, running).finally(release) };
  } catch (error) {
    release();
    throw error;
  }
}

const begin: Readonly<Record<ProfileKind, (session: Session) => Promise<void>>> = {
  cpu: async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  },
  heap: async (session) => {
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling');
  },
};

async function profileOf(kind: ProfileKind, session: Session): Promise<string> {
  const { profile } =
    kind === 'cpu'
      ? await session.post('Profiler.stop')
      : await session.post('HeapProfiler.stopSampling');
  return JSON.stringify(profile);
}
