import type { Path, Report } from '../path.ts';

const lastPort = 65_535;

/** A listener needs a port: 0 is a fault. */
export function checkListenerPort(port: number, path: Path, report: Report): void {
  if (port < 1 || port > lastPort) report(path, `must be from 1 to ${lastPort}, got ${port}`);
}
