import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FileFault, type FunctionFiles } from '../language/hcl/functions/ports.ts';

/** The files that functions of job files read; paths are relative to the directory. */
export const functionFiles = (directory: string, home: string | undefined): FunctionFiles => ({
  read(path, lengthMax) {
    return orFault(() => {
      const place = resolve(directory, path);
      const status = statSync(place);
      if (status.isDirectory()) throw new FileFault('it is a directory');
      if (!status.isFile()) throw new FileFault('it is no ordinary file');
      if (status.size > lengthMax) throw new FileFault(`it is larger than ${lengthMax} bytes`);
      return readFileSync(place);
    });
  },
  exists: (path) =>
    orFault(() => statSync(resolve(directory, path), { throwIfNoEntry: false })?.isFile() ?? false),
  list: (path, countMax) => orFault(() => listed(resolve(directory, path), countMax)),
  absolute: (path) => resolve(directory, path),
  home() {
    if (home === undefined || home === '') throw new FileFault('HOME is not set');
    return home;
  },
});

function listed(root: string, countMax: number): readonly string[] {
  const found: string[] = [];
  const open = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) open.push(path);
      else found.push(path);
      if (found.length + open.length > countMax) {
        throw new FileFault(`there are more than ${countMax} files`);
      }
    }
  }
  return found;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'it is no directory',
  EACCES: 'permission denied',
};

function orFault<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof FileFault) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new FileFault(reasons[code ?? ''] ?? message);
  }
}
