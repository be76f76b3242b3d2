import type { Path, Report } from '../path.ts';

const lastPort = 65_535;

/** A port to listen on is chosen: 0 is none. */
export function checkListenerPort(port: number, path: Path, report: Report): void {
  if (port < 1 || port > lastPort) report(path, `must be from 1 to ${lastPort}, got ${port}`);
}
