/**
 * Figures of another program that serves the same paths, with the yardsticks of the run that gave them. Where the
 * program is not at hand, its figures are carried over by what the yardsticks are there.
 */
export const peerFigures = {
  program: 'Nomad 2.0',
  yardsticks: {
    /** Answers of bare `node:http` a second, to the same reads. */
    bare: 45_000,
    /** Writes of 4 KB a second, each with `fdatasync`. */
    syncs: 3_700,
  },
  figures: {
    coldP99Ms: { value: 16, by: 'bare' },
    readsPerSecond: { value: 20_100, by: 'bare' },
    writesPerSecond: { value: 1_155, by: 'syncs' },
    writesP99Ms: { value: 160, by: 'syncs' },
    afterBurstPerSecond: { value: 270, by: 'syncs' },
    listMs: { value: 28, by: 'bare' },
    runningMs: { value: 757, by: undefined },
    manyRunningMs: { value: 9_700, by: undefined },
    readyMs: { value: 1_760, by: undefined },
    residentMb: { value: 80, by: undefined },
  },
} as const;
