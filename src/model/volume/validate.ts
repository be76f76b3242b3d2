import { below, type Path, quote, type Report } from '../path.ts';
import { checkPlaceName } from '../text-rules.ts';
import type { VolumeRequest } from './volume.ts';

export interface VolumeContext {
  readonly jobType: string;
  readonly count: number;
  readonly canaries: number;
}

const hostModes = new Set([
  '',
  'single-node-reader-only',
  'single-node-writer',
  'single-node-single-writer',
  'single-node-multi-writer',
]);
const storageModes = new Set([
  'single-node-reader-only',
  'single-node-writer',
  'multi-node-reader-only',
  'multi-node-single-writer',
  'multi-node-multi-writer',
]);

/** Source: docs/behaviour/job-specification.md#volumes. */
export function validateVolume(
  volume: VolumeRequest,
  path: Path,
  report: Report,
  context: VolumeContext,
): void {
  if (volume.Type === '') report(below(path, 'Type'), 'is required: host or csi');
  checkPlaceName(volume.Source, below(path, 'Source'), report);
  if (volume.PerAlloc) {
    const at = below(path, 'PerAlloc');
    const isSystem = context.jobType === 'system' || context.jobType === 'sysbatch';
    if (isSystem) report(at, `is not possible in a ${context.jobType} job`);
    if (context.canaries > 0) report(at, 'is not possible together with canaries');
    if (volume.Sticky) report(at, 'is not possible together with Sticky');
  }
  if (volume.AccessMode.endsWith('reader-only') && !volume.ReadOnly) {
    report(below(path, 'ReadOnly'), `must be true with the access mode ${volume.AccessMode}`);
  }
  if (volume.Type === 'host') validateHost(volume, path, report);
  if (volume.Type === 'csi') validateStorage(volume, path, report, context);
}

function validateHost(volume: VolumeRequest, path: Path, report: Report): void {
  if (volume.MountOptions !== null) {
    report(below(path, 'MountOptions'), 'is not possible for a host volume');
  }
  if (!hostModes.has(volume.AccessMode)) {
    report(below(path, 'AccessMode'), `is not one of a host volume: ${quote(volume.AccessMode)}`);
  }
}

function validateStorage(
  volume: VolumeRequest,
  path: Path,
  report: Report,
  { count }: VolumeContext,
): void {
  const { AccessMode, AttachmentMode, PerAlloc, ReadOnly } = volume;
  if (!storageModes.has(AccessMode)) {
    const fault = AccessMode === '' ? 'is required' : `is unknown: ${quote(AccessMode)}`;
    report(below(path, 'AccessMode'), fault);
  }
  if (AttachmentMode !== 'file-system' && AttachmentMode !== 'block-device') {
    report(below(path, 'AttachmentMode'), 'must be file-system or block-device');
  }
  const singleNode = AccessMode.startsWith('single-node') && !PerAlloc;
  const singleWriter = AccessMode === 'multi-node-single-writer' && !ReadOnly && !PerAlloc;
  if (count > 1 && (singleNode || singleWriter)) {
    report(below(path, 'AccessMode'), `${AccessMode} allows a count of 1, and it is ${count}`);
  }
}
