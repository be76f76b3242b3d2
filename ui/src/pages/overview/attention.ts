/** The words, the icon and the page of what needs attention. */
import Boxes from '@lucide/svelte/icons/boxes';
import Braces from '@lucide/svelte/icons/braces';
import Container from '@lucide/svelte/icons/container';
import FileCog from '@lucide/svelte/icons/file-cog';
import GitBranch from '@lucide/svelte/icons/git-branch';
import HardDrive from '@lucide/svelte/icons/hard-drive';
import Info from '@lucide/svelte/icons/info';
import KeyRound from '@lucide/svelte/icons/key-round';
import Link2 from '@lucide/svelte/icons/link-2';
import OctagonAlert from '@lucide/svelte/icons/octagon-alert';
import Rocket from '@lucide/svelte/icons/rocket';
import Server from '@lucide/svelte/icons/server';
import TriangleAlert from '@lucide/svelte/icons/triangle-alert';
import Waypoints from '@lucide/svelte/icons/waypoints';
import type { Component } from 'svelte';
import type {
  AttentionItem,
  AttentionKind,
  Severity,
} from '../../../../src/model/attention/attention.ts';
import { href, router } from '../../app/router.svelte.ts';
import type { Tone } from '../../parts/status.ts';

/** The worst first. */
export const severities: readonly Severity[] = ['critical', 'warning', 'notice'];

interface SeverityLook {
  readonly title: string;
  readonly one: string;
  readonly many: string;
  readonly tone: Tone;
  readonly icon: Component;
}

export const severityLooks: Readonly<Record<Severity, SeverityLook>> = {
  critical: {
    title: 'Critical',
    one: 'critical',
    many: 'critical',
    tone: 'bad',
    icon: OctagonAlert,
  },
  warning: {
    title: 'Warnings',
    one: 'warning',
    many: 'warnings',
    tone: 'warn',
    icon: TriangleAlert,
  },
  notice: { title: 'Notices', one: 'notice', many: 'notices', tone: 'info', icon: Info },
};

export const kindWords: Readonly<Record<AttentionKind, string>> = {
  'allocation-failing': 'Allocation fails',
  'certificate-ends': 'Certificate expires',
  'deployment-failed': 'Deployment failed',
  'deployment-unhealthy': 'Deployment unhealthy',
  'deployment-waits': 'Deployment waits',
  'evaluation-blocked': 'Waits for room',
  'evaluation-failed': 'Evaluation failed',
  'job-short': 'Too few running',
  'limit-near': 'Near a limit',
  'node-disconnected': 'Node disconnected',
  'node-down': 'Node down',
  'node-draining': 'Node drains',
  'node-full': 'Node nearly full',
  'node-ineligible': 'Node takes no work',
  'peering-behind': 'Peering behind',
  'peering-failing': 'Peering fails',
  'server-away': 'Server away',
  'server-behind': 'Server behind',
  'service-critical': 'Checks critical',
  'snapshot-failing': 'Snapshot fails',
  'snapshot-late': 'Snapshot late',
  'token-ends': 'Token expires',
  'writes-closed': 'Writes closed',
};

/** A kind that this page does not know is shown as it came. */
export const wordOfKind = (kind: string): string =>
  (kindWords as Readonly<Record<string, string>>)[kind] ?? kind;

const icons: Readonly<Record<AttentionItem['Noun'], Component>> = {
  allocation: Container,
  cluster: Server,
  'configuration-entry': FileCog,
  deployment: Rocket,
  evaluation: GitBranch,
  job: Boxes,
  node: HardDrive,
  peering: Link2,
  server: Server,
  service: Waypoints,
  token: KeyRound,
  variable: Braces,
};

export const iconOf = ({ Noun }: AttentionItem): Component => icons[Noun] ?? Info;

/** The page that shows what is wrong; `undefined`: there is none. */
export function addressOf(item: AttentionItem): string | undefined {
  const { Noun, ID, Name, Namespace, JobID } = item;
  const ofJob = (tab?: string): string | undefined =>
    JobID === ''
      ? undefined
      : page('/jobs/:namespace/:id', { namespace: Namespace, id: JobID }, { tab });
  switch (Noun) {
    case 'allocation':
      return page('/allocations/:id', { id: ID }) ?? ofJob('allocations');
    case 'job':
      return ofJob();
    case 'deployment':
      return ofJob('deployments');
    case 'evaluation':
      return ofJob('evaluations');
    case 'node':
      return page('/nodes/:id', { id: ID });
    case 'peering':
      return page('/peerings/:name', { name: Name });
    case 'service':
      return page('/services/:name', { name: Name }) ?? ofJob();
    case 'token':
      return page('/access/tokens/:id', { id: ID });
    case 'configuration-entry':
      return page('/configuration/:kind/:name', { kind: ID.slice(0, ID.indexOf('/')), name: Name });
    case 'variable':
      return page('/variables/item', {}, { namespace: Namespace, path: ID });
    case 'server':
    case 'cluster':
      return page('/servers');
    default:
      return undefined;
  }
}

function page(
  path: string,
  params: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, string | undefined>> = {},
): string | undefined {
  return router.has(path.replaceAll(/:\w+/g, 'x')) ? href(path, params, query) : undefined;
}
