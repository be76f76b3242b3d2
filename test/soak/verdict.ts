/** The verdict on a soak: whether memory was released, and whether any other resource leaked. */

/** The resources of an agent and its supervisor at rest. */
export interface Sample {
  /** Minutes since the churn began; 0: before it. */
  readonly minute: number;
  /** Updates of jobs until then. */
  readonly updates: number;
  /** The agent's processor time. */
  readonly busyPercent: number;
  readonly rssMb: number;
  readonly supervisorRssMb: number;
  readonly descriptors: number;
  readonly processes: number;
  readonly mounts: number;
  /** Directories of allocations on the node. */
  readonly directories: number;
}

/**
 * Memory and descriptors at rest are compared with those after this many minutes of churn, when
 * everything is warm.
 */
export const warmMinutes = 2;
export const growthMost = 0.15;
/** The most while there is nothing to do. */
export const busyPercentMost = 10;

const countedNames = ['processes', 'mounts', 'directories'] as const;

/**
 * The faults; none: the soak has passed. The samples are in order of time, the first from before
 * the churn.
 */
export function verdictOn(samples: readonly Sample[]): readonly string[] {
  const start = samples[0];
  const warm = samples.find(({ minute }) => minute >= warmMinutes);
  const end = samples.at(-1);
  if (start === undefined || warm === undefined || end === undefined || warm === end) {
    return [`there was no rest after more than ${warmMinutes} minutes of churn`];
  }
  const faults: string[] = [];
  if (end.busyPercent > busyPercentMost) {
    faults.push(`the agent works ${end.busyPercent.toFixed(0)} % of the time with nothing to do`);
  }
  for (const [name, before, after] of [
    ['the agent', warm.rssMb, end.rssMb],
    ['its supervisor', warm.supervisorRssMb, end.supervisorRssMb],
  ] as const) {
    if (after <= before * (1 + growthMost)) continue;
    faults.push(
      `${name} holds ${after.toFixed(0)} MB at rest, and held ${before.toFixed(0)} MB after minute ${warmMinutes}: ` +
        `more than ${growthMost * 100} % more`,
    );
  }
  // Some are opened at the first use and kept: connections to itself, what watches files.
  const opened = end.descriptors - warm.descriptors;
  if (opened > 0) {
    faults.push(`${opened} more descriptors than after minute ${warmMinutes}: ${end.descriptors}`);
  }
  for (const name of countedNames) {
    const more = end[name] - start[name];
    if (more > 0) faults.push(`${more} more ${name} than at the start: ${end[name]}`);
  }
  return faults;
}
