import type { ClientCommand } from '../definition.ts';
import { resolveAllocation } from '../nouns.ts';
import { allocationArgument, taskArgument } from './argument.ts';

export const allocSignal: ClientCommand = {
  words: ['alloc', 'signal'],
  summary: 'Send a signal to tasks of an allocation.',
  definition: {
    arguments: [allocationArgument, taskArgument],
    options: [{ name: 'signal', letter: 's', value: 'NAME', description: 'The signal (SIGHUP).' }],
  },
  async run(context, [given, task], options) {
    const id = await resolveAllocation(context, given!);
    const wanted = (options.text('signal') ?? 'SIGHUP').toUpperCase();
    const signal = wanted.startsWith('SIG') ? wanted : `SIG${wanted}`;
    const { value } = await context.client.allocations.signal(id, signal, task);
    return context.show(value, () =>
      context.screen.line(`${signal} is sent to allocation ${context.id(id)}.`),
    );
  },
};
