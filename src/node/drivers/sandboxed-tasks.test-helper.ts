/** Isolated tasks with real processes. */
import { expect } from 'vitest';
import { driverNamed, runTask, script } from './driver-runs.test-helper.ts';

/** The driver of a node that allows all extensions of sandboxes. */
export const exec = () =>
  driverNamed('exec', {
    allowsRoot: true,
    allowsHostPid: true,
    allowsHostIpc: true,
    allowedCapabilities: ['chown', 'kill', 'net_bind_service'],
  });

/** The output of a script that succeeds. */
export async function printed(
  text: string,
  ...[config, change]: [object?, Parameters<typeof runTask>[2]?]
) {
  const run = await runTask(exec(), script(text, { ...config }), change);
  expect([await run.exited, run.log('stderr')]).toMatchObject([{ exitCode: 0, signal: 0 }, '']);
  return run.log().trim();
}

/** Attempts to get at the pipes and logs of tasks. Successful ones are printed. */
const intoLogs = [
  'echo forged >> /alloc/logs/app.stdout.0',
  'rm -f /alloc/logs/app.stdout.0',
  'ln -s /etc/passwd /alloc/logs/app.stdout.1',
  'mkfifo /alloc/logs/app.stdout.1',
  'mv /alloc/logs /alloc/old',
  'rmdir /alloc/logs',
  'mount -o remount,rw /alloc/logs',
  'umount /alloc/logs',
  'unshare -Urm sh -c "umount /alloc/logs || mount -o remount,bind,rw /alloc/logs"',
  'mkdir /alloc/data/m; unshare -Urm sh -c "mount --bind /alloc /alloc/data/m; touch /alloc/data/m/logs/x"',
  'for root in /proc/[0-9]*/root; do touch $root/alloc/logs/x && exit; done; false',
];
export const tryAll = intoLogs
  .map((attempt) => `(${attempt}) 2>/dev/null && echo '${attempt.replaceAll("'", '')}'`)
  .join('\n');
