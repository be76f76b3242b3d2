/** `npm run sim`: the control plane's life from a seed, judged at every step. */
import { runCommand } from './command.ts';
import { plant } from './mistakes/plant.ts';

const { stdout, stderr } = process;

process.exitCode = await runCommand(process.argv.slice(2), {
  // The product is loaded after a mistake was planted in it.
  simulate: async (options) => (await import('./simulation.ts')).simulate(options),
  plant,
  say: (line) => stdout.write(`${line}\n`),
  complain: (line) => stderr.write(`${line}\n`),
  showProgress: stderr.isTTY ? (text) => stderr.write(`\r\u001b[K${text}`) : undefined,
  nowMs: () => performance.now(),
});
