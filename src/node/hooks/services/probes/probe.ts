import type { CheckOutcome } from '../../../../model/check-result/check-rules.ts';
import { limits } from '../../../../model/limits.ts';
import type { Check } from '../../../../model/service/check.ts';
import type { DriverCommand, DriverExec } from '../../../drivers/driver.ts';
import type { ServiceAddress } from '../service-address.ts';

export interface ProbeWish {
  readonly check: Check;
  readonly target: ServiceAddress | undefined;
  /** Runs a command in the task of a script; rejects with `DriverFailure`. */
  readonly exec: (command: DriverCommand) => Promise<DriverExec>;
  /** Aborted after the timeout: then the probe must release everything. */
  readonly signal: AbortSignal;
}

export interface Probed {
  readonly outcome: CheckOutcome;
  /** The status of an HTTP answer, else 0. */
  readonly statusCode: number;
  readonly output: string;
}

/** A rejection is the reason of the failure. */
export type Probe = (wish: ProbeWish) => Promise<Probed>;

export const passed = (output: string, statusCode = 0): Probed => ({
  outcome: 'passing',
  output,
  statusCode,
});

export const failed = (output: string, statusCode = 0): Probed => ({
  outcome: 'critical',
  output,
  statusCode,
});

/** Keeps the beginning of an output, up to a bound. */
export class BoundedOutput {
  readonly #parts: Uint8Array[] = [];
  #leftBytes: number = limits.check.outputBytesMax;

  /** `false`: it is full, and the rest is dropped. */
  add(part: Uint8Array): boolean {
    const kept = part.subarray(0, this.#leftBytes);
    this.#leftBytes -= kept.length;
    if (kept.length > 0) this.#parts.push(kept);
    return this.#leftBytes > 0;
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString();
  }
}

/** @throws Error where the allocation has no such port. */
export function requireTarget({ target, check }: ProbeWish): ServiceAddress {
  if (target !== undefined && target.port > 0) return target;
  throw new Error(`the allocation has no port ${JSON.stringify(check.PortLabel)} to check`);
}

export const addressText = ({ host, port }: ServiceAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
