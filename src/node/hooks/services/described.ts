/**
 * The services of an allocation for registration, with all references resolved. Pure.
 * Source: docs/behaviour/job-specification.md#services.
 */
import type { Allocation } from '../../../model/allocation/allocation.ts';
import type { Check } from '../../../model/service/check.ts';
import type { Service } from '../../../model/service/service.ts';
import type { ToldService } from '../../../model/service-registration/service-registration.ts';
import { ownIdPrefix, toldFaults } from '../../../model/service-registration/validate-report.ts';
import type { TaskGroup } from '../../../model/task-group/task-group.ts';
import { hookOf } from '../../allocation-runner/stages.ts';
import { interpolate, interpolateDeep, type Lookup } from '../../environment/interpolate.ts';
import { type ServiceAddress, serviceAddress } from './service-address.ts';

export interface DescribedService {
  /** It is registered while all of these tasks run. */
  readonly tasks: readonly string[];
  readonly told: Omit<ToldService, 'Status'>;
  readonly checks: readonly DescribedCheck[];
  /** Why it cannot be registered; `undefined`: it can. */
  readonly fault: string | undefined;
}

export interface DescribedCheck {
  readonly id: string;
  readonly service: string;
  readonly group: string;
  readonly task: string;
  readonly check: Check;
  /** Absent for a script, and if the allocation has no such port. */
  readonly target: ServiceAddress | undefined;
  readonly scriptTask: string;
  readonly restarts: readonly string[];
}

export interface DescribeInput {
  readonly allocation: Allocation;
  readonly group: TaskGroup;
  /** The values of references in a task, or in the group. */
  readonly lookup: (task?: string) => Lookup;
}

export function describeServices(input: DescribeInput): readonly DescribedService[] {
  const { Services, Tasks } = input.group;
  const described = [
    ...(Services ?? []).map((service) => describe(input, service, '')),
    ...Tasks.flatMap(({ Name, Services: own }) =>
      (own ?? []).map((service) => describe(input, service, Name)),
    ),
  ];
  return described.map((one, index) => named(one, described.slice(0, index)));
}

/** Adds a number to the id if two services have the same one once references are resolved. */
function named(one: DescribedService, before: readonly DescribedService[]): DescribedService {
  const alike = before.filter(({ told }) => told.ID === one.told.ID).length;
  if (alike === 0) return one;
  const ID = `${one.told.ID}-${alike + 1}`;
  const checks = one.checks.map((check, index) => ({ ...check, id: checkId(ID, index) }));
  return { ...one, told: { ...one.told, ID }, checks };
}

const checkId = (service: string, index: number): string => `${service}-check-${index}`;

function describe(input: DescribeInput, service: Service, onTask: string): DescribedService {
  const { allocation, group } = input;
  const task = onTask || service.TaskName;
  const lookup = input.lookup(task || undefined);
  const text = (value: string): string => interpolate(value, lookup);
  const isCanary = allocation.DeploymentStatus?.Canary === true;
  const tags = isCanary && service.CanaryTags !== null ? service.CanaryTags : service.Tags;
  const meta = isCanary && service.CanaryMeta !== null ? service.CanaryMeta : service.Meta;
  const portLabel = text(service.PortLabel);
  const address = addressOf(input, { portLabel, mode: service.AddressMode, task });
  const name = text(service.Name);
  const told: DescribedService['told'] = {
    ID: `${ownIdPrefix(allocation.ID)}${onTask || 'group'}-${name}-${portLabel}`,
    ServiceName: name,
    TaskName: task,
    Tags: interpolateDeep(tags, lookup) as ToldService['Tags'],
    Meta: interpolateDeep(meta, lookup) as ToldService['Meta'],
    Address: service.Address === '' ? (address?.host ?? '') : text(service.Address),
    Port: address?.port ?? 0,
    TaggedAddresses: interpolateDeep(service.TaggedAddresses, lookup) as ToldService['Meta'],
    Weights: service.Weights,
  };
  return {
    tasks: task === '' ? mainTasks(group) : [task],
    told,
    checks: (service.Checks ?? []).map((check, index) =>
      describeCheck(input, { check, service, name, task, id: checkId(told.ID, index) }),
    ),
    fault: faultOf(told, allocation.ID, address === undefined ? portLabel : undefined),
  };
}

const mainTasks = ({ Tasks }: TaskGroup): readonly string[] =>
  Tasks.filter((task) => hookOf(task) === 'main').map(({ Name }) => Name);

function describeCheck(
  input: DescribeInput,
  from: {
    readonly check: Check;
    readonly service: Service;
    readonly name: string;
    readonly task: string;
    readonly id: string;
  },
): DescribedCheck {
  const { service, name, task, id } = from;
  const scriptTask = task || from.check.TaskName;
  const lookup = input.lookup(scriptTask || undefined);
  const check = interpolateDeep(from.check, lookup) as Check;
  const portLabel = check.PortLabel || interpolate(service.PortLabel, lookup);
  const mode = check.AddressMode || service.AddressMode;
  const restarted = check.TaskName || task;
  return {
    id,
    service: name,
    group: input.group.Name,
    task,
    check,
    scriptTask,
    target: check.Type === 'script' ? undefined : addressOf(input, { portLabel, mode, task }),
    restarts: restarted === '' ? mainTasks(input.group) : [restarted],
  };
}

function addressOf(
  { allocation, lookup }: DescribeInput,
  wanted: { readonly portLabel: string; readonly mode: string; readonly task: string },
): ServiceAddress | undefined {
  const node = lookup()('attr.unique.network.ip-address') ?? '';
  return serviceAddress(allocation, wanted, node);
}

/** Checks the values that only the node resolves: servers have checked the rest of the job. */
function faultOf(
  told: DescribedService['told'],
  allocId: string,
  missingPort: string | undefined,
): string | undefined {
  if (missingPort !== undefined) return `the allocation has no port ${JSON.stringify(missingPort)}`;
  const faults: string[] = [];
  toldFaults({ ...told, Status: 'unchecked' }, allocId, (field, message) => {
    faults.push(`${field} ${message}`);
  });
  return faults[0];
}
