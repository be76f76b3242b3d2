import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, type Path, type Report } from '../path.ts';

/** What a check reports, up to what one refusal tells. */
export function faultsOf(check: (report: Report) => void): Fault[] {
  const faults: Fault[] = [];
  check((path, message) => {
    if (faults.length < limits.fault.listedMax) faults.push(faultAt(path, message));
  });
  return faults;
}

/** Reports fields that were given where another one rules them out. */
export function refuseFields(
  record: object,
  fields: readonly string[],
  path: Path,
  because: string,
  report: Report,
): void {
  for (const field of fields) {
    if (isGiven(record[field as keyof typeof record])) report(below(path, field), because);
  }
}

/** Whether a complete record's field is something else than what stands when it is absent. */
export const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && value !== 0 && value !== false;
