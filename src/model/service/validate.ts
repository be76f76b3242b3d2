import { limits } from '../limits.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import { checkUnique, hasInterpolation } from '../text-rules.ts';
import type { Check } from './check.ts';
import type { Service } from './service.ts';

export interface ServiceContext {
  /** Whether the service is of a task rather than of a group. */
  readonly onTask: boolean;
  readonly portLabels: ReadonlySet<string>;
  readonly taskNames: ReadonlySet<string>;
}

const nameForm = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;
const methods = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT)$/i;
const secondNs = 1e9;

/** Source: docs/behaviour/job-specification.md#services. */
export function validateService(
  service: Service,
  path: Path,
  report: Report,
  context: ServiceContext,
): void {
  validateServiceName(service.Name, below(path, 'Name'), report);
  validateAddress(service, path, report, context);
  validateTaskName(service.TaskName, below(path, 'TaskName'), report, context);
  if (service.Provider === 'scheduler' && service.Connect !== null) {
    report(below(path, 'Connect'), 'is not possible with the provider scheduler');
  }
  if (service.Identity !== null && (service.Identity.Audience ?? []).length === 0) {
    report(below(path, 'Identity', 'Audience'), 'needs at least one entry');
  }
  const checks = service.Checks ?? [];
  if (context.onTask) {
    checkUnique(
      checks.map((check) => check.Name),
      (index) => below(path, 'Checks', index, 'Name'),
      report,
    );
  }
  checks.forEach((check, index) => {
    validateCheck(check, below(path, 'Checks', index), report, { ...context, service });
  });
}

function validateServiceName(name: string, path: Path, report: Report): void {
  // Only the node knows the text of an interpolation.
  const isOpen = hasInterpolation(name);
  const lengthMax = isOpen ? limits.names.lengthMax : limits.names.serviceLengthMax;
  if (name.length > lengthMax) report(path, `must be at most ${lengthMax} characters long`);
  else if (isOpen) return;
  else if (!nameForm.test(name)) {
    report(path, `must be letters, digits and inner dashes, got ${quote(name)}`);
  }
}

function validateAddress(
  service: Service,
  path: Path,
  report: Report,
  { onTask, portLabels }: ServiceContext,
): void {
  const { Address, AddressMode, PortLabel } = service;
  const mode = below(path, 'AddressMode');
  if (Address !== '' && AddressMode !== 'auto') report(mode, 'must be auto when Address is set');
  if (AddressMode === 'driver' && !onTask) report(mode, 'driver is only for services of a task');
  if (AddressMode.startsWith('alloc') && onTask) {
    report(mode, `${AddressMode} is only for services of a group`);
  }
  // A sidecar reaches the port inside the network namespace, which needs no label.
  const mayBeNumber = service.Connect !== null ? 'alloc' : AddressMode;
  const port = { label: PortLabel, addressMode: mayBeNumber };
  validatePortLabel(port, below(path, 'PortLabel'), report, portLabels);
}

function validatePortLabel(
  { label, addressMode }: { readonly label: string; readonly addressMode: string },
  path: Path,
  report: Report,
  portLabels: ReadonlySet<string>,
): void {
  if (label === '' || hasInterpolation(label) || portLabels.has(label)) return;
  if (/^\d+$/.test(label) && (addressMode === 'driver' || addressMode.startsWith('alloc'))) {
    const isPort = Number(label) >= 1 && Number(label) <= limits.network.portMax;
    if (!isPort) report(path, `must be a port from 1 to ${limits.network.portMax}`);
    return;
  }
  report(path, `names no port of the group: ${quote(label)}`);
}

/** The task of a service or check must be a task of the group. */
function validateTaskName(
  taskName: string,
  path: Path,
  report: Report,
  { taskNames }: ServiceContext,
): void {
  if (taskName === '' || taskNames.has(taskName)) return;
  report(path, `names no task of the group: ${quote(taskName)}`);
}

interface CheckContext extends ServiceContext {
  readonly service: Service;
}

function validateCheck(check: Check, path: Path, report: Report, context: CheckContext): void {
  const { service } = context;
  const types =
    service.Provider === 'scheduler' ? ['http', 'tcp'] : ['http', 'tcp', 'script', 'grpc'];
  if (!types.includes(check.Type)) {
    report(below(path, 'Type'), `must be one of ${types.join(', ')}, got ${quote(check.Type)}`);
  }
  if (check.Type === 'http') validateHttp(check, path, report);
  if (check.Type === 'script') {
    if (check.Command === '') report(below(path, 'Command'), 'is required');
    if (!context.onTask && check.TaskName === '' && service.TaskName === '') {
      report(below(path, 'TaskName'), 'is required for a script check of a group');
    }
  } else if (check.PortLabel === '' && service.PortLabel === '') {
    report(below(path, 'PortLabel'), 'is required here or on the service');
  }
  const mode = check.AddressMode || service.AddressMode;
  const port = { label: check.PortLabel, addressMode: mode };
  validatePortLabel(port, below(path, 'PortLabel'), report, context.portLabels);
  for (const field of ['Interval', 'Timeout'] as const) {
    if (check[field] < secondNs) report(below(path, field), 'is required and at least 1s');
  }
  validateTaskName(check.TaskName, below(path, 'TaskName'), report, context);
  validateOnUpdate(check, path, report);
  validateThresholds(check, service, path, report);
  if (service.Provider === 'scheduler') validateScheduled(check, path, report);
  else if (check.Expose) validateExpose(check, path, report, context);
}

function validateHttp(check: Check, path: Path, report: Report): void {
  const at = below(path, 'Path');
  if (check.Path === '') report(at, 'is required for an http check');
  else if (/^([a-z][a-z0-9+.-]*:)?\/\//i.test(check.Path)) report(at, 'must be a relative URL');
  if (!['', 'http', 'https'].includes(check.Protocol)) {
    report(below(path, 'Protocol'), `must be http or https, got ${quote(check.Protocol)}`);
  }
  if (check.Method !== '' && !methods.test(check.Method)) {
    report(below(path, 'Method'), `is not a method of HTTP: ${quote(check.Method)}`);
  }
}

/** Refuses the features that checks of the provider `scheduler` lack. */
function validateScheduled(check: Check, path: Path, report: Report): void {
  if (check.AddressMode === 'driver') {
    report(below(path, 'AddressMode'), 'driver is not possible with the provider scheduler');
  }
  for (const field of ['Advertise', 'Expose', 'GRPCService', 'GRPCUseTLS'] as const) {
    const isGiven = check[field] !== '' && check[field] !== false;
    if (isGiven) report(below(path, field), 'is not possible with the provider scheduler');
  }
}

function validateExpose(
  check: Check,
  path: Path,
  report: Report,
  { onTask, service }: CheckContext,
): void {
  const at = below(path, 'Expose');
  if (check.Type !== 'http' && check.Type !== 'grpc') {
    report(at, 'is only possible for http and grpc checks');
  }
  if (onTask || service.Connect === null) {
    report(at, 'is only possible on a service of a group with Connect');
  }
}

function validateOnUpdate(check: Check, path: Path, report: Report): void {
  const restarts = check.CheckRestart !== null && check.CheckRestart.Limit > 0;
  if (!restarts) return;
  if (check.OnUpdate === 'ignore') {
    report(below(path, 'OnUpdate'), 'ignore is not possible together with CheckRestart');
  }
  if (check.OnUpdate === 'ignore_warnings' && !check.CheckRestart?.IgnoreWarnings) {
    report(below(path, 'CheckRestart', 'IgnoreWarnings'), 'must be true with ignore_warnings');
  }
}

function validateThresholds(check: Check, service: Service, path: Path, report: Report): void {
  const fields = [
    'SuccessBeforePassing',
    'FailuresBeforeCritical',
    'FailuresBeforeWarning',
  ] as const;
  for (const field of fields) {
    if (check[field] === 0) continue;
    if (service.Provider === 'scheduler') {
      report(below(path, field), 'is not possible with the provider scheduler');
    } else if (check.Type === 'script') {
      report(below(path, field), 'is not possible for a script check');
    }
  }
}
