import { dirname } from 'node:path';
import { nameFiles } from '../../users/names.ts';
import type { DriverTask } from '../driver.ts';
import type { HostView } from './view.ts';

/** Replaces the machine's files of names in the view with the allocation's. Pure. */
export function withNames(view: HostView, { ownUser, directories }: DriverTask): HostView {
  if (ownUser === undefined) return view;
  const own = nameFiles(dirname(directories.root));
  return Object.fromEntries(
    Object.entries(view).map(([host, inside]) => [own[host] ?? host, inside]),
  );
}
