import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** Of the flags that `/proc` tells of a descriptor, in octal. */
const closeOnExec = 0o2000000;
const lastOfOurs = 2;

/**
 * Closes what this process was started with besides input, output and errors: whatever it starts would
 * have it as well, tasks among them. The runtime opens nothing that a child gets, so what a child would
 * get came from outside. To be called first of all.
 */
export function closeInheritedDescriptors(): void {
  let descriptors: readonly string[];
  try {
    descriptors = readdirSync('/proc/self/fd');
  } catch {
    // Not Linux: no tasks run here.
    return;
  }
  for (const descriptor of descriptors.map(Number).filter((one) => one > lastOfOurs)) {
    if (isInherited(descriptor)) closeSync(descriptor);
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const about = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const [, flags = ''] = /^flags:\s*(\d+)/m.exec(about) ?? [];
    return flags !== '' && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The directory that was read.
    return false;
  }
}
