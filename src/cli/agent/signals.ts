/** The signals that end an agent. */
import { delay, type World } from '../../base/ports.ts';

/** Not in limits: the patience after a second signal. */
const hurryTimeoutMs = 2_000;

/**
 * Resolves with the first signal. A second signal, at least a second later, ends the process after
 * `hurry`; a third ends it at once.
 */
export function firstSignal(
  { clock, timers }: Pick<World, 'clock' | 'timers'>,
  isHangUpTaken: boolean,
  hurry: () => Promise<void>,
): Promise<NodeJS.Signals> {
  const exit = () => process.exit(130);
  let hurries = false;
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const nowMs = clock.monotonicMs();
      firstMs ??= nowMs;
      // npm repeats a Ctrl-C that the terminal has delivered already.
      if (nowMs - firstMs <= 1_000) return resolve(signal);
      if (hurries) exit();
      hurries = true;
      void Promise.race([hurry(), delay(timers, hurryTimeoutMs)]).then(exit, exit);
    };
    const signals = ['SIGINT', 'SIGTERM'] as const;
    for (const signal of signals) process.on(signal, onSignal);
    if (!isHangUpTaken) process.on('SIGHUP', onSignal);
  });
}
