/**
 * Tells systemd how the agent fares, as sd_notify(3) describes. Node has no sockets for datagrams of the machine, so
 * systemd's own program `systemd-notify` sends each message.
 */
import { spawn } from 'node:child_process';
import type { Timers } from '../../base/ports.ts';

export interface ServiceManager {
  /** The agent answers, also after a reload. `systemctl status` shows the sentence. */
  ready(sentence: string): void;
  reloading(): void;
  /** Resolves when systemd knows. */
  stopping(): Promise<void>;
}

interface Options {
  /** The variables that systemd has set are removed, so that no task inherits them. */
  readonly env: Record<string, string | undefined>;
  readonly timers: Timers;
  /** Called once, for the first message that is not sent. */
  readonly onError: (error: Error) => void;
}

/** `undefined` unless systemd waits for messages. */
export function serviceManager({ env, timers, onError }: Options): ServiceManager | undefined {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, PATH } = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
  if (NOTIFY_SOCKET === undefined) return undefined;
  let hasFailed = false;
  let sent = Promise.resolve();
  const send = (...assignments: readonly string[]): Promise<void> => {
    const before = sent;
    const sending = async (): Promise<void> => {
      await before;
      await notify(assignments, { NOTIFY_SOCKET, PATH }).catch((error: Error) => {
        if (!hasFailed) onError(error);
        hasFailed = true;
      });
    };
    sent = sending();
    return sent;
  };
  const watchdogMs = Number(WATCHDOG_USEC ?? 0) / 1000;
  // Twice in the time that systemd waits, by the same thread that answers requests.
  const feed = (): void => {
    timers.after(watchdogMs / 2, () => void send('WATCHDOG=1').then(feed));
  };
  if (watchdogMs > 0) feed();
  return {
    ready: (sentence) => void send('READY=1', `STATUS=${sentence}`),
    reloading: () => {
      const monotonicUs = process.hrtime.bigint() / 1000n;
      void send('RELOADING=1', `MONOTONIC_USEC=${monotonicUs}`, 'STATUS=Reloads its settings');
    },
    stopping: () => send('STOPPING=1', 'STATUS=Ends'),
  };
}

function notify(
  assignments: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('systemd-notify', assignments, { env, stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`systemd-notify ended with the exit code ${code}`));
    });
  });
}
