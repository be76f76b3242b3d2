import type { FileInfo } from '../../model/allocation/file-info.ts';
import type { FilePiece } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes, Interrupted } from '../errors.ts';
import type { Options } from '../options.ts';
import { bytesText } from '../render/bytes.ts';
import { agoText, oneLine } from '../render/text.ts';
import { allocationArgument } from './argument.ts';
import { beginOf, endOf, endOptions } from './end-options.ts';
import { jobOption, namedAllocation } from './of-job.ts';
import { printPieces } from './print-pieces.ts';

export const allocFs: ClientCommand = {
  words: ['alloc', 'fs'],
  summary: 'List or print the files of an allocation.',
  definition: {
    arguments: [
      allocationArgument,
      {
        name: 'PATH',
        kind: 'word',
        isRequired: false,
        description: "A file or a directory in the allocation's directory (/).",
      },
    ],
    options: [
      { name: 'stat', description: 'Show the properties of the file instead of its content.' },
      {
        name: 'machine',
        letter: 'H',
        description: 'Show sizes in bytes, and times as stored.',
      },
      ...endOptions,
      jobOption,
    ],
    details: `A directory is listed, a file is printed. With -f a file is followed until it is deleted.

Examples:
  roster alloc fs 8e6ec7a1
  roster alloc fs 8e6ec7a1 server/local/app.conf
  roster alloc fs -f -n 20 8e6ec7a1 alloc/data/app.log`,
  },
  async run(context, [given, path = '/'], options) {
    const end = endOf(options);
    const allocation = await namedAllocation(context, given!, options);
    const file = { allocation, path };
    const { value: info } = await context.client.files.stat(file);
    if (options.flag('stat')) await showFiles(context, options, [info]);
    else if (info.IsDir) await showFiles(context, options, await listAll(context, file));
    else {
      await context.untilInterrupted(async (signal) => {
        const { client, environment } = context;
        const isFollowed = options.flag('follow');
        const begin = await beginOf(end, isFollowed, (offset) =>
          dataOf(client.files.follow({ ...file, follow: false, origin: 'end', offset, signal })),
        );
        if (begin instanceof Uint8Array) return environment.stdout.write(begin);
        const request = { ...file, ...begin, follow: isFollowed, signal };
        const isWhole = await printPieces(context, client.files.follow(request), events, signal);
        if (!isWhole) throw new Interrupted();
      });
    }
    return exitCodes.ok;
  },
};

const events = {
  'file truncated': 'the file was truncated',
  'file replaced': 'another file took its place',
  'file deleted': 'the file was deleted',
} as const;

async function* dataOf(pieces: AsyncIterable<FilePiece>): AsyncIterable<Uint8Array> {
  for await (const { data } of pieces) yield data;
}

async function listAll(
  { client }: Context,
  file: { readonly allocation: string; readonly path: string },
): Promise<readonly FileInfo[]> {
  const files: FileInfo[] = [];
  for (let nextToken: string | undefined; ; ) {
    const page = await client.files.list({ ...file, nextToken });
    files.push(...page.value);
    nextToken = page.nextToken;
    if (nextToken === undefined) return files;
  }
}

async function showFiles(
  { screen, isJson, json, nowMs }: Context,
  options: Options,
  files: readonly FileInfo[],
): Promise<void> {
  if (isJson) return json(options.flag('stat') ? files[0] : files);
  if (files.length === 0) return screen.line('The directory is empty.');
  const isMachine = options.flag('machine');
  const isTyped = options.flag('stat');
  await screen.table(
    ['Mode', 'Size', 'Modified', ...(isTyped ? ['Type'] : []), 'Name'],
    files.map(({ Name, IsDir, Size, FileMode, ModTime, ContentType }) => [
      FileMode,
      isMachine ? String(Size) : bytesText(Size),
      isMachine ? ModTime : agoText(ModTime, nowMs),
      ...(isTyped ? [ContentType ?? '-'] : []),
      `${oneLine(Name)}${IsDir && Name !== '/' ? '/' : ''}`,
    ]),
  );
}
