/** What a page shows: its tables, bars and numbers, as texts. */
import type { Locator, Page } from 'playwright-core';

export class Shown {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** The rows of the table, by the titles of its columns. */
  rows(label: string): Promise<Record<string, string>[]> {
    return this.page
      .getByRole('table', { name: label, exact: true })
      .locator('tr.list-row')
      .evaluateAll((all) =>
        all.map((row) =>
          Object.fromEntries(
            [...row.querySelectorAll<HTMLElement>('td[data-title]')].map((cell) => [
              cell.dataset.title,
              (cell.textContent ?? '').replace(/\s+/g, ' ').trim(),
            ]),
          ),
        ),
      );
  }

  async column(label: string, ...titles: readonly string[]): Promise<string[]> {
    return (await this.rows(label)).map((row) => titles.map((title) => row[title]).join(': '));
  }

  /** Texts as they are seen, on one line each. */
  async textsOf(of: Locator): Promise<string[]> {
    return (await of.allInnerTexts()).map((one) => one.replace(/\s+/g, ' ').trim());
  }

  async firstOf(of: Locator): Promise<string> {
    return (await this.textsOf(of))[0] ?? '';
  }

  foot(): Promise<string> {
    return this.firstOf(this.page.locator('.foot bdi'));
  }

  text(selector: string): Promise<string> {
    return this.firstOf(this.page.locator(selector));
  }

  /** The words of a bar for those who do not see it: `3 running`, `1 failed`. */
  async barIn(of: Locator): Promise<string[]> {
    const said = await of.getByRole('img').first().getAttribute('aria-label');
    return said === null || /^no/.test(said) ? [] : said.split(', ').toSorted();
  }

  tabCount(name: string): Promise<string> {
    return this.firstOf(this.page.getByRole('tab', { name }).locator('.count'));
  }
}
