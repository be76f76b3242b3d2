import type { PlanStub, ShownPlan } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { argument, type ClientCommand, verbose } from '../definition.ts';
import { listCommand } from '../list-command.ts';
import { oneLine, orDash } from '../render/text.ts';
import { warningsIn } from '../render/warnings.ts';
import { resolveId, withPrefix } from '../resolve-id.ts';
import { printPlan, showMade } from './render.ts';

const planArgument = argument('PLAN', 'The plan, or 8 or more characters of its id.', 'word');

const resolvePlan = ({ client }: Context, given: string): Promise<string> =>
  resolveId(
    {
      word: 'plan',
      listedBy: 'roster plan list',
      list: withPrefix(() => client.plans.list()),
      nameOf: ({ ID }) => ID,
    },
    given,
  );

/** `job web`, `node n1`, `service-defaults/web` */
function subjectOf({ Kind, JobID, Subject, Name }: PlanStub): string {
  if (JobID !== '') return `job ${oneLine(JobID)}`;
  return Kind === 'configuration-entry'
    ? `${Subject}/${oneLine(Name)}`
    : `node ${oneLine(Name || Subject)}`;
}

export const planList = listCommand({
  words: ['plan', 'list'],
  summary: 'List the plans that wait to be carried out, or were.',
  request: 'GET /v1/plans',
  options: [verbose],
  details: `Example:
  roster plan list -filter 'Kind == "drain"'`,
  empty: 'There are no plans.',
  columns: {
    ID: ({ ID }, { id }) => id(ID),
    Kind: ({ Kind }) => Kind,
    Subject: subjectOf,
    'Made by': ({ MadeBy }, { id }) => (MadeBy === '' ? '-' : id(oneLine(MadeBy))),
    'Carried out': ({ CarriedOutIndex, OutdatedIndex }) =>
      CarriedOutIndex === 0
        ? OutdatedIndex === 0
          ? '-'
          : 'outdated'
        : `at index ${CarriedOutIndex}`,
    Expires: ({ ExpiresAt }) => ExpiresAt,
  },
});

export const planShow: ClientCommand = {
  words: ['plan', 'show'],
  summary: 'Show a plan.',
  definition: {
    isPaged: true,
    arguments: [planArgument],
    options: [verbose],
  },
  async run(context, [given]) {
    const { value } = await context.client.plans.read(await resolvePlan(context, given!));
    return context.show(value, () => printKept(context, value));
  },
};

async function printKept(context: Context, plan: ShownPlan): Promise<void> {
  const { screen } = context;
  await printPlan(context, plan);
  await screen.line();
  await screen.fields([
    ['Plan ID', plan.ID],
    ['Kind', plan.Kind],
    ['Made by', orDash(plan.MadeBy)],
    ['Expires', plan.ExpiresAt],
    [
      'Carried out',
      plan.CarriedOutIndex === 0
        ? plan.OutdatedIndex === 0
          ? '-'
          : `outdated since index ${plan.OutdatedIndex} or before`
        : `at index ${plan.CarriedOutIndex}, by ${orDash(plan.CarriedOutBy)}`,
    ],
  ]);
}

export const planApply: ClientCommand = {
  words: ['plan', 'apply'],
  summary: 'Carry a plan out exactly as it was shown, or not at all.',
  definition: {
    arguments: [planArgument],
    options: [verbose],
    details: `If something that the plan rests on has moved, nothing is done, and the differences are told.

Example:
  roster plan apply 8e6ec7a1`,
  },
  async run(context, [given]) {
    const ID = await resolvePlan(context, given!);
    const { value } = await context.client.plans.apply(ID);
    const log = context.isJson ? context.notes : context.screen;
    for (const warning of warningsIn(value.Warnings)) await log.line(`Warning: ${warning}`);
    return context.show(value, async () => {
      const { screen, id } = context;
      await screen.line(`The plan ${id(ID)} is carried out, at index ${value.Index}.`);
      for (const evaluation of value.EvalIDs) await screen.line(`Evaluation ${id(evaluation)}.`);
    });
  },
};

export const planAgain: ClientCommand = {
  words: ['plan', 'again'],
  summary: 'Plan the act of a plan again, on the newest state.',
  definition: {
    isPaged: true,
    arguments: [planArgument],
    options: [verbose],
    details: `The new plan is yours, and the other one stays. You need the permission of the act, whoever made the plan.

Example:
  roster plan again 8e6ec7a1`,
  },
  async run(context, [given]) {
    const { value } = await context.client.plans.again(await resolvePlan(context, given!));
    return showMade(context, value);
  },
};

export const planDiscard: ClientCommand = {
  words: ['plan', 'discard'],
  summary: 'Discard a plan, so that nobody carries it out.',
  definition: { arguments: [planArgument] },
  async run(context, [given]) {
    const ID = await resolvePlan(context, given!);
    const { value } = await context.client.plans.discard(ID);
    return context.show(value, () => context.screen.line(`The plan ${context.id(ID)} is gone.`));
  },
};
