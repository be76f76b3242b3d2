/** All attempts; each file of `rows/` has those of one kind. */
import type { Attempt } from './attempt.ts';
import { capabilityAttempts } from './rows/capabilities.ts';
import { containerAttempts } from './rows/containers.ts';
import { fileAttempts } from './rows/files.ts';
import { heldAttempts } from './rows/held.ts';
import { limitAttempts } from './rows/limits.ts';
import { logAttempts } from './rows/logs.ts';
import { memoryAttempts } from './rows/memory.ts';
import { nameAttempts } from './rows/names.ts';
import { processAttempts } from './rows/processes.ts';
import { rawAttempts } from './rows/raw.ts';
import { systemCallAttempts } from './rows/system-calls.ts';

export const attempts: readonly Attempt[] = [
  ...fileAttempts,
  ...processAttempts,
  ...capabilityAttempts,
  ...limitAttempts,
  ...containerAttempts,
  ...logAttempts,
  ...nameAttempts,
  ...heldAttempts,
  ...memoryAttempts,
  ...rawAttempts,
  ...systemCallAttempts,
];

export { openings } from './rows/openings.ts';
