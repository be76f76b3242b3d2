import { readFileSync } from 'node:fs';
import * as os from 'node:os';

/** Kernel, system and name of the machine, as attributes (docs/behaviour/client.md#attributes). */
export function hostAttributes(): Readonly<Record<string, string>> {
  const release = osRelease(readText('/etc/os-release'));
  return {
    'kernel.name': os.platform(),
    'kernel.arch': os.machine(),
    'kernel.version': os.release(),
    'os.name': release.ID ?? os.type().toLowerCase(),
    'os.version': release.VERSION_ID ?? os.release(),
    'os.signals': Object.keys(os.constants.signals).join(','),
    'unique.hostname': os.hostname(),
  };
}

/** `NAME="value"` lines. */
export function osRelease(text: string): Readonly<Record<string, string>> {
  const lines = text.matchAll(/^([A-Z_]+)=("?)(.*?)\2$/gm);
  return Object.fromEntries([...lines].map(([, name, , value]) => [name!, value!]));
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
