import type { Event, EventFrame } from '../../model/event/event.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes, Interrupted } from '../errors.ts';
import { oneLine } from '../render/text.ts';
import { wholeNumberOption } from '../whole-number.ts';

export const eventStream: ClientCommand = {
  words: ['event', 'stream'],
  summary: 'Follow the events of the cluster.',
  definition: {
    options: [
      {
        name: 'topic',
        value: 'TOPIC',
        isRepeatable: true,
        description: 'Only this topic, such as Job or Allocation:web; all topics by default.',
      },
      {
        name: 'index',
        value: 'INDEX',
        description: 'Begin with this index, if the server still has its events, instead of now.',
      },
      {
        name: 'filter',
        value: 'EXPRESSION',
        description: 'Only events that match, such as Type == JobRegistered.',
      },
    ],
    details: `With -json every line of the answer is printed as it comes.

Example:
  roster event stream -topic Job -topic Deployment`,
  },
  async run({ client, screen, isJson, jsonLine, untilInterrupted, id }, _words, options) {
    const index = wholeNumberOption(options, 'index');
    const topics = options.list('topic');
    const filter = options.text('filter');
    const print = async (frame: EventFrame) => {
      if (isJson) return jsonLine(frame);
      if (frame.Missed) await screen.line(`Events before ${frame.Index} are not known any more.`);
      for (const event of frame.Events ?? []) await screen.line(sentence(event, id));
    };
    if (!isJson) await screen.line(screen.colors.bold(lineOf(head)));
    return untilInterrupted(async (signal) => {
      for await (const frame of client.events.follow({ topics, index, filter, signal })) {
        if (frame.Error !== undefined) throw new CliError(frame.Error.Message);
        await print(frame);
      }
      if (signal.aborted) throw new Interrupted();
      return exitCodes.ok;
    });
  },
};

/** The titles of the columns. A last column has further keys, such as the job of an allocation. */
const head = ['Index', 'Type', 'Namespace', 'Key', 'Belongs to'] as const;

const lineOf = ([index, type, namespace, key, others]: readonly [
  string,
  string,
  string,
  string,
  string,
]): string =>
  [index.padStart(8), type.padEnd(30), namespace.padEnd(9), key.padEnd(8), others]
    .join('  ')
    .trimEnd();

const uuid = /^[0-9a-f-]{36}$/;

function sentence({ Index, Type, Namespace, Key, FilterKeys }: Event, id: (id: string) => string) {
  const shown = (key: string) => oneLine(uuid.test(key) ? id(key) : key);
  const others = (FilterKeys ?? []).map(shown).join(' ');
  return lineOf([String(Index), Type, oneLine(Namespace) || '-', shown(Key), others]);
}
