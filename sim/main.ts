/** The program behind `npm run sim`. */
import { runCommand } from './command.ts';
import { beginLives } from './lives.ts';

const { stdout, stderr } = process;

process.exitCode = await runCommand(process.argv.slice(2), {
  begin: beginLives,
  say: (line) => stdout.write(`${line}\n`),
  complain: (line) => stderr.write(`${line}\n`),
  showProgress: stderr.isTTY ? (text) => stderr.write(`\r\u001b[K${text}`) : undefined,
  nowMs: () => performance.now(),
});
