import { drained, type Steps } from '../../base/steps.ts';
import { ConversionFault } from '../hcl/convert.ts';
import type { HclScope } from '../hcl/scope.ts';
import type { Range } from '../hcl/source.ts';
import { suggestion } from '../hcl/suggest.ts';
import type { HclAttribute, HclBlock, HclBody } from '../hcl/syntax.ts';
import { plainOf, type Value } from '../hcl/value.ts';
import { fieldWord } from '../words/field-words.ts';
import type { AttributeForm, BlockForm, Fields, Form, LabelForm, MapForm } from './form.ts';
import { Items, type ScopedItem } from './items.ts';
import { noteItems, placed, pointerPart, type WrittenAt } from './places.ts';
import type { Reading } from './reading.ts';
import { fieldValue } from './values.ts';

/** A block that is being read. */
interface OpenRecord {
  readonly block: HclBlock;
  readonly form: BlockForm;
  readonly fields: Fields;
  readonly at: WrittenAt;
  /** The blocks that occurred, of those that may occur only once. */
  readonly alone: Set<string>;
}

/** Reads blocks by their forms, and goes on after each fault. */
export class BodyReader {
  private readonly reading: Reading;
  private readonly items: Items;

  constructor(reading: Reading) {
    this.reading = reading;
    this.items = new Items(reading);
  }

  /** The record of a block. */
  record(block: HclBlock, form: BlockForm, scope: HclScope): Fields {
    return drained(this.recordInSteps(block, form, scope));
  }

  /** `record`, with a step for each item of the block. */
  *recordInSteps(block: HclBlock, form: BlockForm, scope: HclScope): Steps<Fields> {
    this.reading.work(block.typeRange, 1);
    const at: WrittenAt = { record: block.typeRange, fields: new Map() };
    const open: OpenRecord = { block, form, at, fields: {}, alone: new Set() };
    this.labelled(open);
    for (const item of this.items.of(block.body, scope)) {
      this.item(open, item);
      yield;
    }
    const complain = (sentence: string) => this.reading.fault(block.typeRange, sentence);
    const finished = form.body.finish?.run(open.fields, complain) ?? open.fields;
    return placed(finished, at);
  }

  private item(open: OpenRecord, { item, scope }: ScopedItem): void {
    const { block, form, alone } = open;
    const name = item.kind === 'attribute' ? item.name : item.type;
    const found = form.body.forms.get(name);
    if (found === undefined) {
      this.unknown(block, item, form);
    } else if (item.kind === 'attribute') {
      if (found.kind === 'block') this.shouldBeBlock(item, found);
      else this.setAttribute(open, found, item, scope);
    } else if (found.kind !== 'block' && !isMap(found)) {
      this.reading.fault(item.typeRange, `"${name}" is not a block: write ${name} = …`);
    } else if (found.kind === 'block' && found.many !== 'one') {
      this.addBlock(open, found, item, scope);
    } else if (alone.has(name)) {
      this.reading.fault(item.typeRange, `"${block.type}" holds one "${name}" at most`);
    } else {
      alone.add(name);
      this.setBlock(open, found, item, scope);
    }
  }

  private setAttribute(
    { fields, at }: OpenRecord,
    form: AttributeForm | MapForm,
    { name, value, nameRange }: HclAttribute,
    scope: HclScope,
  ): void {
    at.fields.set(form.field, nameRange);
    const found = this.reading.value(value, scope);
    // Null counts as absent.
    if (found === undefined || found === null) return;
    const converted = this.converted(name, form.kind, found, value.range);
    if (converted === undefined) return;
    fields[form.field] = converted;
    noteItems(at, form.field, value);
  }

  private converted(
    name: string,
    kind: (AttributeForm | MapForm)['kind'],
    value: Value,
    range: Range,
  ): unknown {
    try {
      return fieldValue(kind, value);
    } catch (error) {
      if (!(error instanceof ConversionFault)) throw error;
      this.reading.fault(range, `"${name}" ${error.message}`);
      return undefined;
    }
  }

  private setBlock(
    { fields, at }: OpenRecord,
    form: BlockForm | MapForm,
    block: HclBlock,
    scope: HclScope,
  ): void {
    at.fields.set(form.field, block.typeRange);
    fields[form.field] =
      form.kind === 'block'
        ? this.record(block, form, scope)
        : this.mapBlock(block, form, scope, at);
  }

  private addBlock(
    { fields, at }: OpenRecord,
    form: BlockForm,
    block: HclBlock,
    scope: HclScope,
  ): void {
    if (!at.fields.has(form.field)) at.fields.set(form.field, block.typeRange);
    const record = this.record(block, form, scope);
    if (form.many === 'list') {
      const before = (fields[form.field] ?? []) as Fields[];
      before.push(record);
      fields[form.field] = before;
      return;
    }
    const map = (fields[form.field] ?? Object.create(null)) as Record<string, Fields>;
    const key = String(block.labels[0]?.text ?? '');
    if (Object.hasOwn(map, key)) {
      this.reading.fault(block.labels[0]!.range, `There is a ${block.type} "${key}" already`);
    }
    map[key] = record;
    fields[form.field] = map;
  }

  private labelled({ block, form, fields, at }: OpenRecord): void {
    const { label } = form;
    const [first, ...extra] = block.labels;
    const most = label === undefined ? 'no label' : 'one label';
    for (const one of label === undefined ? block.labels : extra) {
      this.reading.fault(one.range, `"${block.type}" takes ${most}`);
    }
    if (label === undefined) return;
    if (first !== undefined) {
      fields[label.field] = first.text;
      at.fields.set(label.field, first.range);
    } else if (!label.isOptional && !this.isSetInside(block.body, form, label)) {
      const sentence = `"${block.type}" needs a label: ${block.type} "name" { … }`;
      this.reading.fault(block.typeRange, sentence);
    }
  }

  /** Whether an attribute stands for the label, as in `target { value = "a" }`. */
  private isSetInside(body: HclBody, form: BlockForm, label: LabelForm): boolean {
    return body.items.some((item) => {
      const inner = item.kind === 'attribute' ? form.body.forms.get(item.name) : undefined;
      return inner?.field === label.field;
    });
  }

  private mapBlock(block: HclBlock, form: MapForm, scope: HclScope, at: WrittenAt): unknown {
    for (const { range } of block.labels) {
      this.reading.fault(range, `"${block.type}" takes no label`);
    }
    this.reading.work(block.typeRange, 1);
    if (form.kind === 'free-map') return this.free(block.body, scope, at, form.field);
    const kind = form.kind === 'text-map' ? 'text' : 'texts';
    const result: Record<string, unknown> = Object.create(null);
    for (const { item, scope: inner } of this.items.of(block.body, scope)) {
      if (item.kind === 'block') {
        this.reading.fault(item.typeRange, `"${block.type}" holds no blocks`);
        continue;
      }
      const value = this.reading.value(item.value, inner);
      if (value === undefined || value === null) continue;
      const converted = this.converted(item.name, kind, value, item.value.range);
      if (converted === undefined) continue;
      result[item.name] = converted;
      const pointer = `${form.field}/${pointerPart(item.name)}`;
      at.fields.set(pointer, item.nameRange);
      noteItems(at, pointer, item.value);
    }
    return result;
  }

  /**
   * Reads a body of free content: blocks become lists of maps, with their labels as keys around them.
   * `pointer` is the pointer of the body, for its places.
   */
  private free(
    body: HclBody,
    scope: HclScope,
    at: WrittenAt,
    pointer: string,
  ): Readonly<Record<string, unknown>> {
    const result: Record<string, unknown> = Object.create(null);
    const attributes = new Set<string>();
    const blocks = new Map<string, unknown[]>();
    for (const { item, scope: inner } of this.items.of(body, scope)) {
      const isAttribute = item.kind === 'attribute';
      const [name, range] = isAttribute ? [item.name, item.nameRange] : [item.type, item.typeRange];
      const own = `${pointer}/${pointerPart(name)}`;
      if (isAttribute ? blocks.has(name) : attributes.has(name)) {
        this.reading.fault(range, `"${name}" is both an attribute and a block`);
      } else if (isAttribute) {
        attributes.add(name);
        const value = this.reading.value(item.value, inner);
        if (value === undefined || value === null) continue;
        result[name] = plainOf(value);
        at.fields.set(own, range);
        noteItems(at, own, item.value);
      } else {
        this.reading.work(range, 1 + item.labels.length);
        const list = blocks.get(name) ?? [];
        const inside = item.labels.map(({ text }) => `/${pointerPart(text)}/0`).join('');
        at.fields.set(`${own}/${list.length}`, range);
        const labelled = item.labels.reduceRight<unknown>(
          (value, { text }) => ({ [text]: [value] }),
          this.free(item.body, inner, at, `${own}/${list.length}${inside}`),
        );
        list.push(labelled);
        blocks.set(name, list);
        result[name] = list;
      }
    }
    return result;
  }

  private shouldBeBlock({ name, nameRange }: HclAttribute, form: BlockForm): void {
    const label = form.label === undefined || form.label.isOptional ? '' : ' "name"';
    this.reading.fault(nameRange, `"${name}" is a block: write ${name}${label} { … }`);
  }

  private unknown(block: HclBlock, item: HclAttribute | HclBlock, form: BlockForm): void {
    const isBlock = item.kind === 'block';
    const [name, range] = isBlock ? [item.type, item.typeRange] : [item.name, item.nameRange];
    const known = [...form.body.forms.keys(), ...(isBlock ? ['dynamic'] : [])];
    const hint = fieldWord('block', name) || suggestion(name, known);
    const shown = name.slice(0, 64).toWellFormed();
    const what = isBlock ? 'block' : 'attribute';
    this.reading.fault(range, `"${block.type}" has no ${what} "${shown}"${hint}`);
  }
}

const isMap = (form: Form): form is MapForm =>
  form.kind === 'text-map' || form.kind === 'texts-map' || form.kind === 'free-map';
