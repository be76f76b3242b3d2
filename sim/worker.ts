/** A child process of `npm run sim -- --processes N`: runs the requested lives, one at a time. */
import { mistakeNamed } from './mistakes/list.ts';
import { plant } from './mistakes/plant.ts';
import type { SimulationOptions } from './simulation.ts';

const mistake = mistakeNamed(process.argv[2] ?? '');
if (mistake !== undefined) plant(mistake);
const { simulate } = await import('./simulation.ts');

process.on('disconnect', () => process.exit(0));
process.on('message', async (options) => {
  process.send!(await simulate(options as SimulationOptions));
});
