import { attentionKinds, type Severity, severities } from '../../model/attention/attention.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import type { Attention, AttentionItem, AttentionKind } from '../../sdk/attention.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { oneLine, plural } from '../render/text.ts';

export const attention: ClientCommand = {
  words: ['attention'],
  summary: 'List what needs attention, the worst first, with reasons.',
  definition: {
    isPaged: true,
    options: [
      {
        name: 'severity',
        value: 'SEVERITY',
        choices: severities,
        description: 'Only items of this severity.',
      },
      {
        name: 'kind',
        value: 'KIND',
        choices: attentionKinds,
        description: 'Only items of this kind.',
      },
    ],
    details: `It looks at all namespaces, unless --namespace names one, and shows what your token may read: jobs that
lack allocations, evaluations that are blocked or failed, deployments, allocations that fail again and again,
services with critical checks, nodes, peerings, tokens and certificates that end, limits that are near, and the servers
themselves.

Examples:
  roster attention
  roster attention --severity critical
  roster attention --kind evaluation-blocked --namespace shop`,
  },
  async run(context, _words, options) {
    const { client, namespace = everyNamespace } = context;
    const severity = options.text('severity') as Severity | undefined;
    const kind = options.text('kind') as AttentionKind | undefined;
    const { value } = await client.attention.read({ severity, kind, namespace });
    return context.show(value, () => print(context, value));
  },
};

async function print({ screen, id }: Context, { Items, Total }: Attention): Promise<void> {
  if (Total === 0) return screen.line('Nothing needs attention that your token may read.');
  const rows = Items.map((item) => [
    item.Severity,
    item.Kind,
    whereIs(item, id),
    item.Since ?? '-',
    oneLine(item.Reason),
  ]);
  await screen.table(['Severity', 'Kind', 'Where', 'Since', 'Reason'], rows);
  if (Total > Items.length) {
    await screen.line(`${plural(Total - Items.length, 'further item')} not shown.`);
  }
}

const withIds: readonly AttentionItem['Noun'][] = ['allocation', 'deployment', 'evaluation'];

function whereIs(
  { Noun, ID, Name, Namespace }: AttentionItem,
  short: (id: string) => string,
): string {
  if (Noun === 'cluster') return Noun;
  const shown = withIds.includes(Noun) ? `${oneLine(Name)} ${short(ID)}` : oneLine(Name || ID);
  return `${Noun} ${shown}${Namespace === '' ? '' : ` in ${oneLine(Namespace)}`}`;
}
