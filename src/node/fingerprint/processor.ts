import * as os from 'node:os';
import { readText } from './host.ts';

export interface Processor {
  readonly cores: number;
  readonly coreMhz: number;
  readonly totalMhz: number;
  readonly model: string;
  readonly architecture: string;
}

/** For virtual machines and ARM cores, which often do not tell their speed. */
const fallbackMhz = 1000;

const architectureNames: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export function readProcessor(): Processor {
  const cores = Math.max(1, os.availableParallelism());
  const speeds = processorSpeedsMhz(readText('/proc/cpuinfo'));
  const known = speeds.length > 0 ? speeds : os.cpus().map(({ speed }) => speed);
  const coreMhz = Math.round(Math.max(0, ...known)) || fallbackMhz;
  const architecture = architectureNames[os.arch()] ?? os.arch();
  const model = os.cpus()[0]?.model.trim() ?? '';
  return { cores, coreMhz, totalMhz: coreMhz * cores, model, architecture };
}

/** The present speed of each core in `/proc/cpuinfo`. */
export const processorSpeedsMhz = (text: string): readonly number[] =>
  [...text.matchAll(/^cpu MHz\s*:\s*([\d.]+)$/gm)].map(([, mhz]) => Number(mhz));

export const processorAttributes = (processor: Processor): Readonly<Record<string, string>> => ({
  'cpu.arch': processor.architecture,
  'cpu.modelname': processor.model,
  'cpu.frequency': String(processor.coreMhz),
  'cpu.numcores': String(processor.cores),
  'cpu.totalcompute': String(processor.totalMhz),
  'cpu.usablecompute': String(processor.totalMhz),
  'cpu.reservablecores': String(processor.cores),
});
