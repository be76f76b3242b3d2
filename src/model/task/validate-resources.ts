import { validateAffinities, validateConstraints } from '../constraint/validate.ts';
import { limits } from '../limits.ts';
import { below, type Path, type Report } from '../path.ts';
import type { Resources } from './resources.ts';

/** Source: docs/behaviour/job-specification.md#resources. */
export function validateResources(resources: Resources, path: Path, report: Report): void {
  const { CPU, Cores, MemoryMB, MemoryMaxMB } = resources;
  if (Cores > 0 && CPU > 0) report(below(path, 'Cores'), 'is not possible together with CPU');
  if (Cores === 0 && CPU < limits.task.cpuMhzMin) {
    report(below(path, 'CPU'), `must be at least ${limits.task.cpuMhzMin}, got ${CPU}`);
  }
  if (MemoryMaxMB !== 0 && MemoryMaxMB !== -1 && MemoryMaxMB < MemoryMB) {
    report(below(path, 'MemoryMaxMB'), 'must be 0, -1 or at least MemoryMB');
  }
  if (resources.DiskMB !== 0) {
    report(below(path, 'DiskMB'), "must be 0: the group's EphemeralDisk is the disk of its tasks");
  }
  if (resources.SecretsMB > MemoryMB) {
    report(below(path, 'SecretsMB'), 'must not be more than MemoryMB');
  }
  resources.Devices?.forEach((device, index) => {
    const at = below(path, 'Devices', index);
    if (device.Name === '') report(below(at, 'Name'), 'is required');
    else if (!/^[^/]+(\/[^/]+){0,2}$/.test(device.Name)) {
      report(below(at, 'Name'), 'must be type, vendor/type or vendor/type/name');
    }
    const here = { allowDistinct: false };
    validateConstraints(device.Constraints, below(at, 'Constraints'), report, here);
    validateAffinities(device.Affinities, below(at, 'Affinities'), report);
  });
  validateNuma(resources, path, report);
}

function validateNuma(resources: Resources, path: Path, report: Report): void {
  const asked = new Set(resources.Devices?.map((device) => device.Name));
  resources.NUMA?.Devices?.forEach((name, index) => {
    if (!asked.has(name))
      report(below(path, 'NUMA', 'Devices', index), 'is not the name of a device in Devices');
  });
}
