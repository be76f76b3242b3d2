/**
 * Rules for a node's report of its services. Source: docs/behaviour/job-specification.md#services.
 */
import { checkValues } from '../check-values.ts';
import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, type Path, quote, type Report } from '../path.ts';
import {
  type ServicesReport,
  ServicesReportSchema,
  type ToldService,
} from './service-registration.ts';

const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;

export const isServiceName = (name: string): boolean =>
  name.length <= limits.names.serviceLengthMax && label.test(name);

/** The beginning of every id: so no node can name an instance of another allocation. */
export const ownIdPrefix = (allocId: string): string => `${allocId}-`;

/** All faults of a batch at once. The servers check whose allocations they are. */
export function servicesFaults(reports: readonly ServicesReport[]): Fault[] {
  const at = below(null, 'Allocations');
  const { batchMax } = limits.service;
  if (reports.length > batchMax) {
    const rule = `has ${reports.length} reports; at most ${batchMax} are taken at once`;
    return [faultAt(at, rule)];
  }
  const faults: Fault[] = [];
  const report: Report = (path, message) => {
    if (faults.length < limits.fault.listedMax) faults.push(faultAt(path, message));
  };
  for (const [index, one] of reports.entries()) {
    if (faults.length >= limits.fault.listedMax) break;
    const path = below(at, index);
    faults.push(...checkValues(ServicesReportSchema, one, path));
    checkReport(one, path, report);
  }
  return faults.slice(0, limits.fault.listedMax);
}

function checkReport({ AllocID, Services }: ServicesReport, path: Path, report: Report): void {
  if (AllocID.includes('\0')) report(below(path, 'AllocID'), 'must not hold a NUL character');
  const { perAllocationMax } = limits.service;
  if (Services.length > perAllocationMax) {
    const rule = `has ${Services.length} services; an allocation has at most ${perAllocationMax}`;
    report(below(path, 'Services'), rule);
    return;
  }
  const seen = new Set<string>();
  Services.forEach((service, index) => {
    const at = below(path, 'Services', index);
    toldFaults(service, AllocID, (field, message) => report(below(at, field), message));
    const key = `${service.ServiceName}\0${service.ID}`;
    if (seen.has(key)) report(below(at, 'ID'), `is given twice: ${quote(service.ID)}`);
    seen.add(key);
  });
}

/** Faults of an instance, field by field. */
export function toldFaults(
  service: ToldService,
  allocId: string,
  report: (field: string, message: string) => void,
): void {
  const { ID, ServiceName, Tags, Meta, Address, TaskName, TaggedAddresses } = service;
  const { serviceLengthMax } = limits.names;
  if (!isServiceName(ServiceName)) {
    const form = `must be at most ${serviceLengthMax} letters, digits and inner dashes`;
    report('ServiceName', `${form}, got ${quote(ServiceName)}`);
  }
  if (!ID.startsWith(ownIdPrefix(allocId)) || ID.includes('\0') || allocId === '') {
    report('ID', 'must begin with the id of its allocation');
  }
  const texts: readonly (readonly [string, readonly string[]])[] = [
    ['ID', [ID]],
    ['TaskName', [TaskName]],
    ['Address', [Address]],
    ['Tags', Tags ?? []],
    ['Meta', Object.entries(Meta ?? {}).flat()],
    ['TaggedAddresses', Object.entries(TaggedAddresses ?? {}).flat()],
  ];
  const { textLengthMax, entriesMax } = limits.service;
  for (const [field, values] of texts) {
    if (values.length > 2 * entriesMax) report(field, `has more than ${entriesMax} entries`);
    else if (values.some((value) => value.length > textLengthMax)) {
      report(field, `must be at most ${textLengthMax} characters long`);
    }
  }
}
