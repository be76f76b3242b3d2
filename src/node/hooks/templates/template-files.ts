/** The files of templates: their sources, and their destinations. */
import { limits } from '../../../model/limits.ts';
import type { Template } from '../../../model/task/files.ts';
import type { Defences } from '../../defences.ts';
import { readBelow, writeBelow } from '../../files.ts';
import type { TaskHookContext } from '../hook.ts';
import { taskPath } from './task-path.ts';
import { type TaskTemplate, TemplateFailure } from './task-template.ts';

/** @throws TemplateFailure */
export async function readSource(
  { SourcePath, EmbeddedTmpl }: Template,
  { directories, environment }: TaskHookContext,
  defences: Defences | undefined,
): Promise<string> {
  if (SourcePath === '') return EmbeddedTmpl;
  const { directory, path } = taskPath(SourcePath, environment().lookup, directories);
  const most = limits.template.textLengthMax;
  const bytes = await readBelow(directory, path, most, defences).catch((error: Error) => {
    throw new TemplateFailure(`the template cannot be read: ${error.message}`, true);
  });
  if (bytes !== undefined) return Buffer.from(bytes).toString('utf8');
  throw new TemplateFailure(`there is no template ${JSON.stringify(path)}`, true);
}

export async function writeRendered(
  { template, destination, text }: TaskTemplate,
  { owner }: TaskHookContext,
  defences: Defences | undefined,
): Promise<void> {
  if (text === undefined) return;
  const { directory, path } = destination;
  await writeBelow(directory, path, Buffer.from(text), {
    owner: owner(),
    modeBits: Number.parseInt(template.Perms, 8),
    uid: given(template.Uid),
    gid: given(template.Gid),
    defences,
  });
}

/** Whether the destination has the rendered text already. */
export async function isWritten({ destination, text }: TaskTemplate): Promise<boolean> {
  if (text === undefined) return true;
  const { directory, path } = destination;
  const most = 4 * limits.template.outputLengthMax;
  const found = await readBelow(directory, path, most).catch(() => undefined);
  return found !== undefined && Buffer.from(found).toString('utf8') === text;
}

/** -1 and null mean unchanged. */
const given = (id: number | null): number | undefined => (id === null || id < 0 ? undefined : id);
