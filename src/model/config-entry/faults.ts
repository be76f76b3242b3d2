import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { faultAt, type Report } from '../path.ts';

/** The faults that a check reports, as many as a refusal lists. */
export function faultsOf(check: (report: Report) => void): Fault[] {
  const faults: Fault[] = [];
  check((path, message) => {
    if (faults.length < limits.fault.listedMax) faults.push(faultAt(path, message));
  });
  return faults;
}

/** Calls `report` for each of the given fields. */
export function refuseFields(
  record: object,
  fields: readonly string[],
  report: (field: string) => void,
): void {
  for (const field of fields) if (isGiven(record[field as keyof typeof record])) report(field);
}

/** Whether the field of a complete record differs from its default. */
export const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && value !== 0 && value !== false;
